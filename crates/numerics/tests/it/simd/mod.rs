//! Tests of vector kernels, with every instruction set that the machine has.

mod columns;
mod doubles;
mod neighbours;
mod pairs;
mod permuted;
mod tile;
mod transpose;
mod windows;
