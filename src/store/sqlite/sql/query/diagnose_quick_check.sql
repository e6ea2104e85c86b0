-- Whether the pages of the file fit together: `ok`, or up to ten complaints. Reads the whole file.
pragma quick_check(10)
