// RUN: stablehlo-opt -verify-diagnostics -split-input-file %s

// A tensor becomes a buffer, passes through a call that modifies it in place, and becomes a tensor again.
func.func @well(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @Pin(%x) : (tensor<2xf32>) -> memref<2xf32>
  %1 = stablehlo.custom_call @f(%0) {
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]
  } : (memref<2xf32>) -> memref<2xf32>
  %2 = stablehlo.custom_call @Unpin(%1) : (memref<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

func.func @created_from_something(%x: tensor<2xf32>) {
  // expected-error@+1 {{CreateBuffer takes nothing and gives a buffer}}
  %0 = stablehlo.custom_call @CreateBuffer(%x) : (tensor<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @pinned_to_another_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{Pin gives the buffer of a tensor}}
  %0 = stablehlo.custom_call @Pin(%x) : (tensor<2xf32>) -> memref<2xi32>
  return
}

// -----

func.func @from_nowhere(%x: memref<2xf32>) {
  // expected-error@+1 {{the buffer at [] of the results must be in one of output_operand_aliases; it is in 0}}
  %0 = stablehlo.custom_call @f(%x) : (memref<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @twice(%x: memref<2xf32>) {
  // expected-error@+1 {{the buffer at [0] of the operands is in several output_operand_aliases}}
  %0:2 = stablehlo.custom_call @f(%x) {output_operand_aliases = [
    #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>,
    #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]
  } : (memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)
  return
}
