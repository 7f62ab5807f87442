//! Tests of the side dialects; one binary, so that they link once.

mod declarations;
mod expect;
mod mesh;
mod quant;
mod text;
mod verify;
