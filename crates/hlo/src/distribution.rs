//! The distribution of the arguments and results of a program over the devices that run it.

use crate::sharding::Sharding;
use mlir::attrs::{AttrKind, Dictionary};
use mlir::{Attribute, OpRef};
use numerics::Tensor;
use numerics::math::{self, BinaryOp};
use numerics::shape::StridedView;
use program::EvalError;
use side_dialects::sdy::Tiling;

/// The division of a tensor into equal tiles, one for each device; several may have the same, or
/// terms of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Number of tiles of each dimension.
    tiles: Vec<usize>,
    /// The coordinates of the tile of each device.
    places: Vec<Vec<usize>>,
    /// The terms of which tiles are the reduction, if they are unreduced.
    terms: Option<Terms>,
}

/// Tiles that are not reduced yet: devices have terms of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Terms {
    count: usize,
    reduction: BinaryOp,
    /// The number of each device's term.
    numbers: Vec<usize>,
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
        let is_whole =
            |own: &Distribution| own.tiles.iter().all(|&n| n <= 1) && own.terms.is_none();
        Ok(Some(found).filter(|found| !is_whole(found)))
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
        let terms = (tiling.num_terms() > 1).then(|| Terms {
            count: tiling.num_terms(),
            reduction: tiling.reduction(),
            numbers: (0..devices).map(|device| tiling.term(device).unwrap_or(0)).collect(),
        });
        let places = places.unwrap_or(vec![vec![0; tiles.len()]; devices]);
        Some(Distribution { places, tiles, terms })
    }

    fn of_text(sharding: &Attribute, rank: usize, devices: usize) -> Option<Distribution> {
        let AttrKind::String { value, .. } = &**sharding else { return None };
        let sharding = Sharding::read(value, 0, rank)?;
        let Sharding::Tiled { tiles, .. } = &sharding else {
            return Some(Distribution {
                tiles: vec![1; rank],
                places: vec![vec![0; rank]; devices],
                terms: None,
            });
        };
        let places = (0..devices).map(|device| sharding.tile(device)).collect::<Option<_>>()?;
        Some(Distribution { tiles: tiles.clone(), places, terms: None })
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

    /// The number of a device's term of its tile.
    fn term(&self, device: usize) -> usize {
        self.terms.as_ref().map_or(0, |terms| terms.numbers[device])
    }

    /// True if two devices have the same tile and term.
    fn is_same(&self, left: usize, right: usize) -> bool {
        self.places[left] == self.places[right] && self.term(left) == self.term(right)
    }

    /// The device that has the same tile and term as a device, and the lowest number.
    fn first(&self, device: usize) -> usize {
        (0..device).find(|&other| self.is_same(other, device)).unwrap_or(device)
    }

    /// The number of a device among the devices with the same tile and term.
    fn copy(&self, device: usize) -> usize {
        (0..device).filter(|&other| self.is_same(other, device)).count()
    }

    /// True if all devices that should have the same tile and term have the same bits.
    pub fn copies_agree(&self, tiles: &[Tensor]) -> bool {
        let is_as_first = |(device, tile): (usize, &Tensor)| *tile == tiles[self.first(device)];
        tiles.len() == self.places.len() && tiles.iter().enumerate().all(is_as_first)
    }

    /// The tiles of a tensor, device by device. Of the terms of a sum, the first is the value, and
    /// the others are zeros; the maximum and the minimum of equal values are that value.
    ///
    /// # Errors
    /// If it cannot be divided.
    pub fn split(&self, whole: &Tensor) -> Result<Vec<Tensor>, EvalError> {
        let tile = self.tile_shape(whole.shape())?;
        let mut tiles: Vec<Tensor> = Vec::with_capacity(self.places.len());
        for device in 0..self.places.len() {
            tiles.push(match tiles.get(self.first(device)) {
                Some(same) => same.clone(),
                None => self.tile(device, whole, &tile)?,
            });
        }
        Ok(tiles)
    }

    /// The tile of a device, as [`Distribution::split`] makes it.
    ///
    /// # Errors
    /// As there.
    pub fn tile_of(&self, device: usize, whole: &Tensor) -> Result<Tensor, EvalError> {
        self.tile(device, whole, &self.tile_shape(whole.shape())?)
    }

    /// The tile of a device, of a tensor that is the device's term.
    ///
    /// # Errors
    /// As for [`Distribution::split`].
    pub fn term_of(&self, device: usize, whole: &Tensor) -> Result<Tensor, EvalError> {
        let tile = self.tile_shape(whole.shape())?;
        Ok(whole.gather(&self.view(whole.shape(), &tile, &self.places[device])?)?)
    }

    fn tile(&self, device: usize, whole: &Tensor, tile: &[usize]) -> Result<Tensor, EvalError> {
        let is_sum = self.terms.as_ref().is_some_and(|terms| terms.reduction == BinaryOp::Add);
        if is_sum && self.term(device) != 0 {
            return Ok(Tensor::zeros(whole.dtype(), tile)?);
        }
        Ok(whole.gather(&self.view(whole.shape(), tile, &self.places[device])?)?)
    }

    /// The tensor of tiles, device by device; of equal tiles, the first counts, and terms are
    /// reduced in the order of their numbers.
    ///
    /// # Errors
    /// If their number is not that of the devices, or their shapes differ.
    pub fn join(&self, tiles: &[Tensor]) -> Result<Tensor, EvalError> {
        self.join_copies(0, tiles, None)
    }

    /// As [`Distribution::join`], of tiles that differ where they should be equal: the copy of
    /// each tile counts that has the number of the device's own among copies.
    ///
    /// # Errors
    /// As there.
    pub fn join_beside(&self, device: usize, tiles: &[Tensor]) -> Result<Tensor, EvalError> {
        self.join_copies(self.copy(device), tiles, None)
    }

    /// As [`Distribution::join_beside`], of the tiles alone that are the terms with the number of
    /// the device's.
    ///
    /// # Errors
    /// As there.
    pub fn join_terms(&self, device: usize, tiles: &[Tensor]) -> Result<Tensor, EvalError> {
        self.join_copies(self.copy(device), tiles, Some(self.term(device)))
    }

    /// Of a term, or reduced.
    fn join_copies(
        &self,
        copy: usize,
        tiles: &[Tensor],
        term: Option<usize>,
    ) -> Result<Tensor, EvalError> {
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
        for (device, place) in self.places.iter().enumerate() {
            if self.first(device) != device || self.term(device) != term.unwrap_or(0) {
                continue;
            }
            // Copies are numbered alike, but for devices outside of a mesh.
            let chosen = |first: usize| {
                let mut same = (first..tiles.len()).filter(|&other| self.is_same(first, other));
                &tiles[same.nth(copy).unwrap_or(first)]
            };
            let mut own = chosen(device).clone();
            let reduced = self.terms.iter().filter(|_| term.is_none());
            for (number, reduction) in reduced.flat_map(|t| (1..t.count).map(|n| (n, t.reduction)))
            {
                let mut others = self.places.iter().enumerate();
                let other = others.find(|(o, p)| *p == place && self.term(*o) == number);
                let (other, _) = other.ok_or_else(|| error("a term of a tile is on no device"))?;
                own = math::binary(reduction, own, chosen(other).clone())?;
            }
            whole.scatter(&self.view(&shape, tile.shape(), place)?, &own)?;
        }
        Ok(whole)
    }

    /// The text that XLA has for the sharding, such as `{devices=[2,1]0,1}`.
    pub fn to_text(&self) -> String {
        let count: usize = self.tiles.iter().product();
        let number = |place: &Vec<usize>| {
            place.iter().zip(&self.tiles).fold(0, |number, (at, tiles)| number * tiles + at)
        };
        // The devices of each tile in row-major order; of a tile, those that have the same term are
        // copies, which come before terms.
        let mut devices: Vec<usize> = (0..self.places.len()).collect();
        devices.sort_by_cached_key(|&device| {
            (number(&self.places[device]), self.copy(device), self.term(device))
        });
        let join =
            |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let terms = self.terms.as_ref().map_or(1, |terms| terms.count);
        let copies = self.places.len() / count.max(1) / terms.max(1);
        let mut tiles = self.tiles.clone();
        tiles.extend((copies > 1).then_some(copies));
        tiles.extend((terms > 1).then_some(terms));
        let end = match (copies > 1, terms > 1) {
            (false, false) => "",
            (true, false) => " last_tile_dim_replicate",
            (false, true) => " last_tile_dims={unreduced}",
            (true, true) => " last_tile_dims={replicated, unreduced}",
        };
        format!("{{devices=[{}]{}{end}}}", join(&tiles), join(&devices))
    }
}
