-- Changes when another connection, of whichever process, has committed a change.
pragma data_version
