// Collectives of Shardy, and what its shardings may say: the sharding of a result follows from that of
// the operand. Shardy refuses the same programs.
// RUN: stablehlo-opt %s -split-input-file -verify-diagnostics
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f0(%a: tensor<16x8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f1(%a: tensor<16x8xf32>) {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f2(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
func.func @f3(%a: tensor<16x8xf32>) {
  %0 = sdy.reduce_scatter [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f8(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"y":(2)2}, {}] %1 out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  return
}
func.func @f9(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"y":(2)2}, {}]> : tensor<16x8xf32>
  return
}
func.func @f10(%a: tensor<16x8xf32>) {
  %0 = sdy.all_reduce {} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f11(%a: tensor<16x8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{?}, {}]> : tensor<16x8xf32>
  return
}
func.func @f12(%a: tensor<16x8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}], replicated={"x"}> : tensor<16x8xf32>
  return
}
func.func @f13(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f14(%a: tensor<16x8xf32>) {
  %0 = sdy.reduce_scatter [{}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f15(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  %0 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f16(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f24(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f25(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], replicated={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f26(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], replicated={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}], replicated={"y"}> : tensor<16x8xf32>
  return
}
func.func @f27(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f28(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return
}
func.func @f29(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{?}, {}]> : tensor<16x8xf32>
  return
}
func.func @f30(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x", ?}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f31(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {"y"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f32(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"y":(2)2}, {}] %1 out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  return
}
func.func @f33(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x","y"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"y"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f34(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_slice [{"y":(2)2}, {}] %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f35(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], replicated={"x"}> : tensor<16x8xf32>
  %0 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f36(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], replicated={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f37(%a: tensor<16x8xf32>) {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m2, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f38(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{?}, {}]> : tensor<16x8xf32>
  return
}
func.func @f39(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}], replicated={"x"}> : tensor<16x8xf32>
  return
}
func.func @f40(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}], replicated={"x"}> : tensor<16x8xf32>
  return
}
func.func @f41(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f42(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f43(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f44(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f45(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the result must not be unreduced along "x", along which the operand is not}}
  %0 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f46(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_reduce {"y":(2)2} %1 out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  return
}
func.func @f47(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  %0 = sdy.reduce_scatter [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f48(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.reduce_scatter [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f49(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.reduce_scatter [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return
}
func.func @f50(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], replicated={"x"}> : tensor<16x8xf32>
  %0 = sdy.reduce_scatter [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f51(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.reduce_scatter [{}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f52(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  return
}
func.func @f53(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], replicated={"x"}> : tensor<16x8xf32>
  %0 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f54(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], replicated={"y"}> : tensor<16x8xf32>
  %0 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
func.func @f55(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"y":(1)2}> : tensor<16x8xf32>
  %0 = sdy.replicated_to_unreduced {"y":(2)2} %1 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return
}
func.func @f56(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  return
}
func.func @f57(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  %0 = sdy.sharded_to_unreduced [{"y"}, {"x"}] %1 out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  return
}
func.func @f58(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"y":(2)2, "x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f59(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"y":(1)2}, {}], replicated={"x"}> : tensor<16x8xf32>
  return
}
func.func @f60(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f61(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y":(1)2}> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y":(2)2}> : tensor<16x8xf32>
  return
}
func.func @f62(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  return
}
func.func @f63(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <mesh<["x"=2,"y"=4]>, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.collective_permute %1 out_sharding=<mesh<["x"=2,"y"=4], device_ids=[7,6,5,4,3,2,1,0]>, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
func.func @f64(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<16x8xf32>
  return
}
func.func @f65(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], replicated={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
func.func @f66(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  %0 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
func.func @f67(%a: tensor<16x8xf32>) {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) {
  %1 = sdy.all_gather [{"y"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
func.func @f68(%a: tensor<16x8xf32>) {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) { sdy.return %x : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %r out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f69(%a: tensor<16x8xf32>) {
  %r = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%x: tensor<16x8xf32>) {
  %2 = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  sdy.return %x : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = sdy.all_gather [{"x"}, {}] %r out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f70(%a: tensor<16x8xf32>) {
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
  } : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
func.func @f71(%a: tensor<16x8xf32>) {
  %i = stablehlo.constant dense<true> : tensor<i1>
  %w = stablehlo.while(%x = %a) : tensor<16x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} cond { stablehlo.return %i : tensor<i1> } do {
  %5 = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  stablehlo.return %x : tensor<16x8xf32> }
  return
}
func.func @f72(%a: tensor<16x8xf32>) {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) {
  %1 = sdy.all_reduce {"x"} %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{the operand must have a sharding; found none}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{there is no mesh @nomesh}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@nomesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{gathering_axes: dimension 0 of the operand is not sharded along the axis "x" innermost}}
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{dimension 1 of the result must be sharded along []; found ["x"]}}
  %0 = sdy.all_gather [{"y"}, {}] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y", "x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the axis "y" is used twice}}
  %0 = sdy.all_gather [{"y", "y"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@m2, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the result must have the mesh of the operand, #sdy.mesh<["x"=2]>; found #sdy.mesh<["x"=2, "y"=4]>}}
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{params has the dimension 0 twice}}
  %0 = sdy.all_to_all [{"x"}: 0->0] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{params has the dimension 2; it must be from 0 to 1}}
  %0 = sdy.all_to_all [{"x"}: 0->2] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{params has the dimension -1; it must be from 0 to 1}}
  %0 = sdy.all_to_all [{"x"}: -1->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{params must hold at least one move of axes; found none}}
  %0 = sdy.all_to_all [] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{each move of params must have an axis; found none}}
  %0 = sdy.all_to_all [{}: 0->1] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{dimension 0 must have as many shards as that of the operand, 2; found 4}}
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{the mesh has no axis "z"}}
  %0 = sdy.all_reduce {"z"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{reduction_axes: the operand is sharded or replicated along the axis "x"}}
  %0 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{reduction_axes: axes must be in the order of the mesh}}
  %0 = sdy.all_reduce {"y", "x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{a sharding of 1 dimension for a value of type tensor<16x8xf32>}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{a sharding on one device has neither dimensions nor axes}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<mesh<[], device_ids=[0]>, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{axes: the operand is sharded or unreduced along the axis "x"}}
  %0 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the result must be unreduced along ["x"]; found []}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{`in_shardings`, value 0: the mesh has no axis "z"}}
  %0 = sdy.named_computation<"foo">(%a) in_shardings=[<@mesh, [{"z"}, {}]>] (%x: tensor<16x8xf32>) { sdy.return %x : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{`in_shardings` has 0 shardings for 1 value}}
  %0 = sdy.named_computation<"foo">(%a) in_shardings=[] (%x: tensor<16x8xf32>) { sdy.return %x : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{argument 0 must have the type tensor<8x8xf32>, which follows from the sharding and the operand; found tensor<16x8xf32>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<16x8xf32>) { sdy.return %x : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{`in_shardings`, value 0: the manual axis "x" must come before the free axes of its dimension}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y","x"}, {}]>] out_shardings=[<@mesh, [{"y","x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) { sdy.return %x : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{manual_axes: the mesh has no axis "z"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"z"} (%x: tensor<16x8xf32>) { sdy.return %x : tensor<16x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) {
  // expected-error @+1 {{manual_axes: the axis "x" is manual in an enclosing sdy.manual_computation}}
  %1 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%y: tensor<4x8xf32>) { sdy.return %y : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) {
  // expected-error @+1 {{the axis "x" is manual in an enclosing sdy.manual_computation}}
  %1 = sdy.reshard %x <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{two parts of the axis "y" follow one another; they must be one}}
  %0 = sdy.reshard %a <@mesh, [{"y":(1)2, "y":(2)2}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{gathering_axes must have a list for each of 2 dimensions; found 1}}
  %0 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{slicing_axes must have a list for each of 2 dimensions; found 1}}
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  // expected-error @+1 {{reduction_axes: the result is unreduced along "x"}}
  %0 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{reduce_scatter_axes must have a list for each of 2 dimensions; found 1}}
  %0 = sdy.reduce_scatter [{"x"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{axes: axes must be in the order of the mesh}}
  %0 = sdy.replicated_to_unreduced {"y", "x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"x", "y"}> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{axes must not be empty}}
  %0 = sdy.replicated_to_unreduced {} %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{axes: dimension 0 of the operand is not sharded along the axis "x" innermost}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{axes must have a list for each of 2 dimensions; found 1}}
  %0 = sdy.sharded_to_unreduced [{"x"}] %1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@m2, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the meshes of operand and result must have the same axes}}
  %0 = sdy.collective_permute %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <mesh<["x"=2,"y"=4]>, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the result must have the mesh of the operand, #sdy.mesh<["x"=2, "y"=4]>; found #sdy.mesh<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>}}
  %0 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<mesh<["x"=2,"y"=4], device_ids=[7,6,5,4,3,2,1,0]>, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{params: dimension 0 of the operand is not sharded along the axis "x" innermost}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %1 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  // expected-error @+1 {{the operand must be no result of an op of sdy other than named_computation and manual_computation; found sdy.sharding_constraint}}
  %2 = sdy.data_flow_edge %1 sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  %0 = sdy.all_gather [{"x"}, {}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) {
  // expected-error @+1 {{`sdy.sharding`, value 0: the axis "x" is manual in an enclosing sdy.manual_computation}}
  %1 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
  } : tensor<8x8xf32>
  sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @m2 = <["x"=2]>
func.func @f(%a: tensor<16x8xf32>) {
  // expected-error @+1 {{`out_shardings`, value 0: the manual axis "x" must come before the free axes of its dimension}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x","y"}, {}]>] out_shardings=[<@mesh, [{"y","x"}, {}]>] manual_axes={"x"} (%x: tensor<8x8xf32>) { sdy.return %x : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return
}
