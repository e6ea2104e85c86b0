# lld links the test programs in a tenth of the time; any other linker will do.
find_program(SLUICE_LLD ld.lld)
if(SLUICE_LLD)
  add_link_options(-fuse-ld=lld)
endif()
