-- Pages of the file that hold nothing, in bytes.
select f.freelist_count * p.page_size from pragma_freelist_count as f, pragma_page_size as p
