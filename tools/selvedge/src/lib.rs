//! What the `selvedge` command does with bytes, apart from the command line: so that tests and fuzz targets reach it
//! without a process.

pub mod decode;
