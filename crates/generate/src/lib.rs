//! Valid random programs: built op by op from the declarations of the StableHLO dialect, with
//! inputs.
//!
//! A program is a function `main` of one block. Elementwise ops come from the registry: any op
//! declared elementwise that accepts some element type. Other ops have a recipe in `recipes.rs`,
//! which builds attributes and regions. Result types come from the op's shape inference where it
//! has one. For one seed, the program with fewer ops is a prefix of the program with more, and
//! [`GenerateOptions::only`] slices a program down to one value and its dependencies, so that a
//! failing program can be reduced.

mod random;
mod recipes;
mod several;

pub use random::Random;

use mlir::ir::{Loc, OpName, OpParts};
use mlir::ods::OpDef;
use mlir::{Attribute, BlockId, Module, OpId, RegionId, Type, Value};
use numerics::{DType, Number, Tensor, TensorError, dispatch_all};
use program::RuntimeValue;
use side_dialects::func::{FuncOp, ReturnOp};
use std::collections::{HashMap, HashSet};

/// Maximum number of elements of a tensor,
const MAX_ELEMENTS: usize = 1024;
/// and if sizes are those at the [`EDGES`].
const MAX_EDGE_ELEMENTS: usize = 1 << 14;
/// Sizes at and beside the limits at which kernels change their way.
const EDGES: [i64; 24] =
    [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 512, 513];

/// Appends an op; `None` if it does not apply.
type Recipe = fn(&mut ProgramGenerator) -> Option<()>;

/// Configuration of the generator.
#[derive(Clone, Debug)]
pub struct GenerateOptions {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of ops outside of regions.
    pub ops: usize,
    /// Element types to use.
    pub types: Vec<DType>,
    /// Include infinities, NaN and very large and small numbers among the inputs.
    pub extremes: bool,
    /// Embed the inputs as constants; the program then takes no arguments.
    pub constants: bool,
    /// Use sizes at and beside the limits at which kernels change their way.
    pub edges: bool,
    /// Return few of the values, so that most are dead.
    pub few_results: bool,
    /// The op that runs all others.
    pub within: Option<Within>,
    /// Return only the result of the op with this number, and drop everything it does not depend
    /// on.
    pub only: Option<usize>,
}

impl Default for GenerateOptions {
    fn default() -> GenerateOptions {
        use DType::*;
        let types = vec![I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128];
        GenerateOptions {
            seed: 0,
            ops: 10,
            types,
            extremes: false,
            constants: false,
            edges: false,
            few_results: false,
            within: None,
            only: None,
        }
    }
}

/// An op that runs a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// A loop of two iterations.
    Loop,
    /// A branch that is taken.
    Branch,
}

/// A program and its inputs.
pub struct Program {
    /// The module, whose `main` takes the inputs.
    pub module: Module,
    /// One input per argument.
    pub inputs: Vec<Tensor>,
}

/// Generates a program.
///
/// # Errors
/// If an input cannot be allocated.
pub fn generate(options: &GenerateOptions) -> Result<Program, TensorError> {
    let mut generator = ProgramGenerator::new(options);
    let mut attempts = 0;
    while generator.made.len() < options.ops && attempts < 100 * options.ops {
        attempts += 1;
        recipes::step(&mut generator);
    }
    generator.finish(options)
}

/// A program under construction.
struct ProgramGenerator {
    random: Random,
    types: Vec<DType>,
    extremes: bool,
    edges: bool,
    module: Module,
    function: OpId,
    block: BlockId,
    end: OpId,
    /// Values of static tensor types available in the block.
    values: Vec<Value>,
    /// The ops of the block, without the terminator.
    made: Vec<OpId>,
}

impl ProgramGenerator {
    fn new(options: &GenerateOptions) -> ProgramGenerator {
        let skeleton = stablo::load("skeleton", "func.func @main() { return }");
        let module = skeleton.expect("the skeleton is valid");
        // The skeleton has one function with one block that ends with a return.
        let function =
            module.walk(module.top().id()).find(|op| op.is(FuncOp::DEF)).map(|op| op.id());
        let function = function.unwrap_or(module.top().id());
        let block = module.op(function).regions().first().and_then(|&region| module.entry(region));
        let block = block.expect("the function of the skeleton has a body");
        let end = module.terminator(block).expect("the function of the skeleton returns").id();
        let (random, types) = (Random::new(options.seed), options.types.clone());
        ProgramGenerator {
            random,
            types,
            extremes: options.extremes,
            edges: options.edges,
            module,
            function,
            block,
            end,
            values: Vec::new(),
            made: Vec::new(),
        }
    }

    /// A random shape of the given rank.
    fn shape(&mut self, rank: usize) -> Vec<i64> {
        if self.edges {
            let mut room = MAX_EDGE_ELEMENTS as i64;
            let mut size = |_| {
                let fitting = EDGES.partition_point(|&size| size <= room);
                let size = *self.random.choose(&EDGES[..fitting]);
                room /= size;
                if self.random.one_in(60) { 0 } else { size }
            };
            let mut shape: Vec<i64> = (0..rank).map(&mut size).collect();
            // The first ones are the largest.
            shape.rotate_left(self.random.below(rank));
            return shape;
        }
        let longest = if rank <= 2 { 7 } else { 4 };
        (0..rank)
            .map(|_| if self.random.one_in(40) { 0 } else { self.random.between(1, longest) })
            .collect()
    }

    /// A random tensor type with the given element type.
    fn tensor(&mut self, dtype: DType) -> Type {
        let rank = *self.random.choose(&[0, 1, 1, 2, 2, 3, 4]);
        Type::tensor(self.shape(rank), dtype.into())
    }

    /// An element type that satisfies `fits`, if any.
    fn dtype(&mut self, fits: impl Fn(DType) -> bool) -> Option<DType> {
        let fitting: Vec<DType> = self.types.iter().copied().filter(|&dtype| fits(dtype)).collect();
        (!fitting.is_empty()).then(|| *self.random.choose(&fitting))
    }

    /// A value of the given type: an existing one, or a new argument.
    fn value(&mut self, ty: &Type) -> Value {
        let fitting: Vec<Value> =
            self.values.iter().copied().filter(|&v| self.module.ty(v) == ty).collect();
        if !fitting.is_empty() && !self.random.one_in(4) {
            return *self.random.choose(&fitting);
        }
        let value = self.module.add_argument(self.block, ty.clone(), Loc::Unknown);
        self.values.push(value);
        value
    }

    /// A value whose type satisfies `fits`: an existing one, or a new argument of a matching
    /// element type.
    fn any(&mut self, fits: impl Fn(&Type) -> bool) -> Option<Value> {
        let fitting: Vec<Value> =
            self.values.iter().copied().filter(|&v| fits(self.module.ty(v))).collect();
        if !fitting.is_empty() && !self.random.one_in(4) {
            return Some(*self.random.choose(&fitting));
        }
        for _ in 0..8 {
            let dtype = self.dtype(|_| true)?;
            let ty = self.tensor(dtype);
            if fits(&ty) {
                return Some(self.value(&ty));
            }
        }
        fitting.last().copied()
    }

    /// Shape and element type of a value.
    fn of(&self, value: Value) -> (Vec<i64>, DType) {
        let ty = self.module.ty(value);
        // All values have static tensor types with a storage element type.
        (ty.shape().unwrap_or(&[]).to_vec(), ty.element_type().dtype().unwrap_or(DType::F32))
    }

    /// Appends a constant.
    fn constant(&mut self, tensor: &Tensor) -> Option<Value> {
        let attrs = [("value", Attribute::from_tensor(tensor))];
        let ty = attrs[0].1.ty();
        let op = self.build(hlo::ops::ConstantOp::DEF, &[], &attrs, Vec::new(), Some(vec![ty]))?;
        self.module.insert_before(op, self.end);
        self.module.op(op).results().next()
    }

    /// Builds an op from its parts, with inferred result types if `results` is `None`. Returns
    /// `None` if the op does not verify.
    fn build(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        attributes: &[(&str, Attribute)],
        regions: Vec<RegionId>,
        results: Option<Vec<Type>>,
    ) -> Option<OpId> {
        let mut parts = OpParts::new(OpName::Registered(def), Loc::Unknown);
        parts.operands.extend(operands.iter().copied());
        parts.regions.extend(regions);
        let id = self.module.create_op(parts);
        for (name, value) in attributes {
            self.module.set_attr(id, name, value.clone());
        }
        let types = match results {
            Some(types) => types,
            None => (def.infer?)(self.module.op(id)).ok()?,
        };
        let most = if self.edges { MAX_EDGE_ELEMENTS } else { MAX_ELEMENTS };
        let small =
            |ty: &Type| ty.as_tensor().and_then(|t| t.num_elements()).is_some_and(|n| n <= most);
        if !types.iter().all(small)
            || types.iter().any(|ty| !def.results.iter().any(|slot| slot.constraint.holds(ty)))
        {
            return None;
        }
        self.module.add_results(id, types);
        Some(id)
    }

    /// As [`ProgramGenerator::build`], and appends the op to the block; its results become
    /// available values.
    fn push(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        attributes: &[(&str, Attribute)],
        regions: Vec<RegionId>,
        results: Option<Vec<Type>>,
    ) -> Option<()> {
        let op = self.build(def, operands, attributes, regions, results)?;
        self.module.insert_before(op, self.end);
        self.values.extend(self.module.op(op).results());
        self.made.push(op);
        Some(())
    }

    /// A region of one block with arguments of the given types. `body` fills it and returns the
    /// values to yield.
    fn region(
        &mut self,
        arguments: &[Type],
        body: impl FnOnce(&mut ProgramGenerator, BlockId, &[Value]) -> Option<Vec<Value>>,
    ) -> Option<RegionId> {
        let region = self.module.create_region();
        let block = self.module.create_block(region);
        let values: Vec<Value> = arguments
            .iter()
            .map(|ty| self.module.add_argument(block, ty.clone(), Loc::Unknown))
            .collect();
        let results = body(self, block, &values)?;
        let mut parts = OpParts::new(OpName::Registered(hlo::ops::ReturnOp::DEF), Loc::Unknown);
        parts.operands.extend(results);
        let end = self.module.create_op(parts);
        self.module.append(block, end);
        Some(region)
    }

    /// Appends an op to a block of a region; returns its first result.
    fn inner(
        &mut self,
        block: BlockId,
        def: &'static OpDef,
        operands: &[Value],
        attributes: &[(&str, Attribute)],
        results: Option<Vec<Type>>,
    ) -> Option<Value> {
        let op = self.build(def, operands, attributes, Vec::new(), results)?;
        self.module.append(block, op);
        self.module.op(op).results().next()
    }

    /// Replaces the arguments by constants.
    fn embed(&mut self, inputs: &[Tensor], returned: &mut [Value]) {
        let arguments = self.module.arguments(self.block).to_vec();
        let mut constants = HashMap::new();
        let first = self.module.first_op(self.block).map_or(self.end, |op| op.id());
        for (&argument, input) in arguments.iter().zip(inputs) {
            let value = Attribute::from_tensor(input);
            let ty = value.ty();
            let attrs = [("value", value)];
            let Some(op) =
                self.build(hlo::ops::ConstantOp::DEF, &[], &attrs, Vec::new(), Some(vec![ty]))
            else {
                continue;
            };
            self.module.insert_before(op, first);
            constants.extend(self.module.op(op).results().map(|result| (argument, result)));
        }
        let replace = |value: &Value| constants.get(value).copied().unwrap_or(*value);
        for op in self.module.walk(self.function).map(|op| op.id()).collect::<Vec<_>>() {
            let operands: Vec<Value> = self.module.op(op).operands().iter().map(replace).collect();
            self.module.set_operands(op, operands);
        }
        returned.iter_mut().for_each(|value| *value = replace(value));
        (0..arguments.len()).rev().for_each(|index| self.module.erase_argument(self.block, index));
    }

    /// Moves all ops into a region of one op that returns the same values. `None` if nothing is
    /// returned.
    fn enclose(&mut self, within: Within, returned: &[Value]) -> Option<Vec<Value>> {
        let ops: Vec<OpId> = self.module.ops(self.block).map(|op| op.id()).collect();
        let ops = &ops[..ops.len() - 1];
        let types: Vec<Type> = returned.iter().map(|&v| self.module.ty(v).clone()).collect();
        let mut zeros = Vec::with_capacity(types.len());
        for &value in returned {
            let (shape, dtype) = self.of(value);
            let shape: Vec<usize> =
                shape.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
            zeros.push(self.constant(&Tensor::zeros(dtype, shape).ok()?)?);
        }
        let op = match within {
            Within::Branch => {
                let taken = self.constant(&Tensor::scalar(numerics::I1::from(true)))?;
                let then = self.region(&[], |g, block, _| {
                    ops.iter().for_each(|&op| g.module.append(block, op));
                    Some(returned.to_vec())
                })?;
                let other = self.region(&[], |_, _, _| Some(zeros))?;
                self.build(hlo::ops::IfOp::DEF, &[taken], &[], vec![then, other], Some(types))?
            }
            Within::Loop => {
                let [zero, one, two] = [0i32, 1, 2].map(|n| self.constant(&Tensor::scalar(n)));
                let (zero, one, two) = (zero?, one?, two?);
                let carried = [&[self.module.ty(zero).clone()], &types[..]].concat();
                let cond = self.region(&carried, |g, block, values| {
                    // 5 is LT.
                    let less = Attribute::enumeration(&hlo::enums::COMPARISON_DIRECTION, 5);
                    let attrs = [("comparison_direction", less)];
                    let operands = [values[0], two];
                    Some(vec![g.inner(block, hlo::ops::CompareOp::DEF, &operands, &attrs, None)?])
                })?;
                let body = self.region(&carried, |g, block, values| {
                    ops.iter().for_each(|&op| g.module.append(block, op));
                    let next =
                        g.inner(block, hlo::ops::AddOp::DEF, &[values[0], one], &[], None)?;
                    Some([&[next], returned].concat())
                })?;
                let operands = [&[zero], &zeros[..]].concat();
                self.build(hlo::ops::WhileOp::DEF, &operands, &[], vec![cond, body], Some(carried))?
            }
        };
        self.module.insert_before(op, self.end);
        let results = self.module.op(op).results();
        Some(results.skip(usize::from(within == Within::Loop)).collect())
    }

    /// Returns all values, or one value and its dependencies, and generates the inputs.
    fn finish(mut self, options: &GenerateOptions) -> Result<Program, TensorError> {
        let only = options.only;
        let mut returned: Vec<Value> = match only {
            Some(number) => self
                .made
                .get(number)
                .map(|&op| self.module.op(op).results().collect())
                .unwrap_or_default(),
            None => self.made.iter().flat_map(|&op| self.module.op(op).results()).collect(),
        };
        if options.few_results {
            let few = returned.len() / 4 + 1;
            returned.retain(|_| self.random.below(few) == 0);
        }
        // Inputs first, so that they do not depend on which ops are dropped.
        let arguments = self.module.arguments(self.block).to_vec();
        let mut inputs = Vec::with_capacity(arguments.len());
        for &argument in &arguments {
            let (shape, dtype) = self.of(argument);
            inputs.push(input(&mut self.random, &shape, dtype, self.extremes)?);
        }
        if only.is_some() {
            let mut needed: HashSet<Value> = returned.iter().copied().collect();
            let ops: Vec<OpId> = self.module.ops(self.block).map(|op| op.id()).collect();
            for &op in ops.iter().rev().skip(1) {
                let view = self.module.op(op);
                if view.results().any(|result| needed.contains(&result)) {
                    needed.extend(
                        self.module.walk(op).flat_map(|inner| inner.operands().iter().copied()),
                    );
                } else {
                    self.module.erase(op);
                }
            }
            for index in
                (0..arguments.len()).rev().filter(|&index| !needed.contains(&arguments[index]))
            {
                self.module.erase_argument(self.block, index);
                inputs.remove(index);
            }
        }
        // Arguments may be larger than results.
        if options.constants && inputs.iter().all(|input| input.num_elements() <= MAX_ELEMENTS) {
            self.embed(&inputs, &mut returned);
            inputs.clear();
        }
        if let Some(within) = options.within {
            returned = self.enclose(within, &returned).unwrap_or(returned);
        }
        let types = |module: &Module, values: &[Value]| {
            values.iter().map(|&v| module.ty(v).clone()).collect::<Vec<_>>()
        };
        let arguments = types(&self.module, self.module.arguments(self.block));
        let signature = Type::function(arguments, types(&self.module, &returned));
        self.module.set_attr(self.function, "function_type", signature.into());
        debug_assert!(self.module.op(self.end).is(ReturnOp::DEF));
        self.module.set_operands(self.end, returned);
        Ok(Program { module: self.module, inputs })
    }
}

/// A random tensor: small integers or quarters; one in eight holds values at the ends of its type.
fn input(
    random: &mut Random,
    shape: &[i64],
    dtype: DType,
    extremes: bool,
) -> Result<Tensor, TensorError> {
    const SPECIAL: [f64; 8] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e-300, 65504.0, 1e-8];
    let shape: Vec<usize> = shape.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    let mut tensor = Tensor::zeros(dtype, &shape)?;
    let mut number = || -> f64 {
        match dtype {
            DType::I1 => random.below(2) as f64,
            _ if extremes && random.one_in(8) => *random.choose(&SPECIAL),
            _ if dtype.is_unsigned() => random.below(12) as f64,
            _ if dtype.is_integer() => random.between(-9, 9) as f64,
            // Quarters are exact in every float type of at least four bits of mantissa.
            _ => random.between(-24, 24) as f64 / 4.0,
        }
    };
    fn fill<T: Number>(
        tensor: &mut Tensor,
        number: &mut dyn FnMut() -> f64,
    ) -> Result<(), TensorError> {
        tensor.make_mut::<T>()?.iter_mut().for_each(|x| *x = T::from_float(number()));
        Ok(())
    }
    dispatch_all!(dtype, T => fill::<T>(&mut tensor, &mut number))?;
    Ok(tensor)
}

/// The inputs as runtime values.
pub fn runtime_values(inputs: &[Tensor]) -> Vec<RuntimeValue> {
    inputs.iter().cloned().map(RuntimeValue::Tensor).collect()
}
