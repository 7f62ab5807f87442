//! The distribution of the arguments and results of a program over the devices that run it.

use crate::sharding::Sharding;
use mlir::attrs::{AttrKind, Dictionary};
use mlir::{Attribute, OpRef};
use numerics::Tensor;
use numerics::shape::StridedView;
use program::EvalError;
use side_dialects::sdy::Tiling;

/// The division of a tensor into equal tiles, one for each device; several may have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Number of tiles of each dimension.
    tiles: Vec<usize>,
    /// The coordinates of the tile of each device.
    places: Vec<Vec<usize>>,
}

fn error(message: impl Into<String>) -> EvalError {
    EvalError::new("sharding", message.into())
}

impl Distribution {
    /// The distribution over `devices` devices that the attributes of an argument or result of
    /// `function` state. `None` if each device has the whole tensor.
    ///
    /// # Errors
    /// If a sharding cannot be read.
    pub fn of(
        function: OpRef<'_>,
        attributes: &Dictionary,
        rank: usize,
        devices: usize,
    ) -> Result<Option<Distribution>, EvalError> {
        let found = if let Some(sharding) = attributes.get("sdy.sharding") {
            Distribution::of_shardy(function, sharding, devices)
        } else if let Some(sharding) = attributes.get("mhlo.sharding") {
            Distribution::of_text(sharding, rank, devices)
        } else {
            return Ok(None);
        };
        let found = found.ok_or_else(|| {
            error(format!("a sharding of @{} cannot be read", function.symbol_name().unwrap_or("")))
        })?;
        Ok(Some(found).filter(|found| found.tiles.iter().any(|&tiles| tiles > 1)))
    }

    fn of_shardy(
        function: OpRef<'_>,
        sharding: &Attribute,
        devices: usize,
    ) -> Option<Distribution> {
        let tiling = Tiling::resolve(function, sharding)?;
        // Devices outside of the mesh have what the first has.
        let place = |device| tiling.tile(device).or_else(|| tiling.tile(0));
        let places = (0..devices).map(place).collect::<Option<Vec<_>>>();
        let tiles = tiling.counts();
        Some(Distribution { places: places.unwrap_or(vec![vec![0; tiles.len()]; devices]), tiles })
    }

    fn of_text(sharding: &Attribute, rank: usize, devices: usize) -> Option<Distribution> {
        let AttrKind::String { value, .. } = &**sharding else { return None };
        let sharding = Sharding::read(value, 0, rank)?;
        let Sharding::Tiled { tiles, .. } = &sharding else {
            return Some(Distribution {
                tiles: vec![1; rank],
                places: vec![vec![0; rank]; devices],
            });
        };
        let places = (0..devices).map(|device| sharding.tile(device)).collect::<Option<_>>()?;
        Some(Distribution { tiles: tiles.clone(), places })
    }

    /// The shape of tiles of a tensor.
    ///
    /// # Errors
    /// If a dimension cannot be divided.
    pub fn tile_shape(&self, shape: &[usize]) -> Result<Vec<usize>, EvalError> {
        if shape.len() != self.tiles.len() {
            return Err(error(format!(
                "a tensor of rank {} has a sharding of rank {}",
                shape.len(),
                self.tiles.len()
            )));
        }
        let size = |(dim, (&size, &tiles)): (usize, (&usize, &usize))| {
            if tiles == 0 || size % tiles != 0 {
                return Err(error(format!(
                    "dimension {dim} of size {size} cannot be divided into {tiles} equal tiles"
                )));
            }
            Ok(size / tiles)
        };
        shape.iter().zip(&self.tiles).enumerate().map(size).collect()
    }

    /// The part of a tensor that a tile is.
    fn view(
        &self,
        whole: &[usize],
        tile: &[usize],
        place: &[usize],
    ) -> Result<StridedView, EvalError> {
        let start: Vec<usize> = place.iter().zip(tile).map(|(at, size)| at * size).collect();
        Ok(StridedView::window(whole, &start, tile, &vec![1; tile.len()])?)
    }

    /// The device that has the same tile as a device, and the lowest number.
    fn first(&self, device: usize) -> usize {
        self.places.iter().position(|place| *place == self.places[device]).unwrap_or(device)
    }

    /// The tiles of a tensor, device by device.
    ///
    /// # Errors
    /// If it cannot be divided.
    pub fn split(&self, whole: &Tensor) -> Result<Vec<Tensor>, EvalError> {
        let tile = self.tile_shape(whole.shape())?;
        let mut tiles: Vec<Tensor> = Vec::with_capacity(self.places.len());
        for (device, place) in self.places.iter().enumerate() {
            let first = self.first(device);
            tiles.push(match tiles.get(first) {
                Some(same) => same.clone(),
                None => whole.gather(&self.view(whole.shape(), &tile, place)?)?,
            });
        }
        Ok(tiles)
    }

    /// The tensor of tiles, device by device; of equal tiles, the first counts.
    ///
    /// # Errors
    /// If their number is not that of the devices, or their shapes differ.
    pub fn join(&self, tiles: &[Tensor]) -> Result<Tensor, EvalError> {
        let tile = match tiles.first() {
            Some(first) if tiles.len() == self.places.len() => first,
            _ => return Err(error("there must be one tile for each device")),
        };
        if tile.rank() != self.tiles.len() || tiles.iter().any(|t| t.shape() != tile.shape()) {
            return Err(error("tiles have different shapes"));
        }
        let sizes = tile.shape().iter().zip(&self.tiles).map(|(size, n)| size.checked_mul(*n));
        let shape: Option<Vec<usize>> = sizes.collect();
        let shape = shape.ok_or_else(|| error("the tensor is too large"))?;
        let mut whole = Tensor::zeros(tile.dtype(), &shape)?;
        for (device, (own, place)) in tiles.iter().zip(&self.places).enumerate() {
            if self.first(device) == device {
                whole.scatter(&self.view(&shape, tile.shape(), place)?, own)?;
            }
        }
        Ok(whole)
    }

    /// The text that XLA has for the sharding, such as `{devices=[2,1]0,1}`.
    pub fn to_text(&self) -> String {
        let count: usize = self.tiles.iter().product();
        let number = |place: &Vec<usize>| {
            place.iter().zip(&self.tiles).fold(0, |number, (at, tiles)| number * tiles + at)
        };
        // The devices of each tile in row-major order, devices of one tile adjacent.
        let mut devices: Vec<usize> = (0..self.places.len()).collect();
        devices.sort_by_key(|&device| number(&self.places[device]));
        let join =
            |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let copies = self.places.len() / count.max(1);
        let mut tiles = self.tiles.clone();
        let mut end = "";
        if copies > 1 {
            tiles.push(copies);
            end = " last_tile_dim_replicate";
        }
        format!("{{devices=[{}]{}{end}}}", join(&tiles), join(&devices))
    }
}
