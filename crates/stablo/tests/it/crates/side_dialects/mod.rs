//! Tests of the side dialects.

mod declarations;
mod expect;
mod mesh;
mod quant;
mod text;
mod verify;
