/* recipes.c - what operators need beyond the table of operators. An operator that is not here gets
 * tensors of one of its types that broadcast, and no attributes. An operator may have several
 * lines; one of them is taken.
 *
 *   inputs       TYPE:DIMS:CONTENTS, a "?" before what may be absent, "_" for what is
 *                TYPE      T (one of the operator's), U{f32|i8} (a type with a name), f32|i8
 *                DIMS      a pattern (pattern.c), "=" or "~": as the first input, or broadcasting
 *                CONTENTS  see fill.c; "shape" is a target for Reshape, "picture" a file; of a map:
 *                          types of keys and values, "i64|string,f32"
 *   attributes   NAME=VALUE|VALUE, a "?" before what may be absent: 1, 1.5, 'text, [1,N*2],
 *                f[0.5], s[a,b], u8[1,2] or T[1,2] for a tensor; @axis, @axes, @perm of the first
 * input, @type(flt), @scalar outputs      0: what the operator allows
 */
#include "random/random.h"

#define POOL                                                                                       \
    "kernel_shape=[2,2]|[1,2]|[3,2] ?strides=[1,2]|[2,2] ?pads=[0,1,1,0]|[1,1,1,1] ?ceil_mode=0|1"
#define WINDOW "?strides=[1,2]|[2,1] ?pads=[0,1,1,0]|[1,1,1,1] ?dilations=[1,2]|[2,1]"
#define RESIZE                                                                                     \
    "?mode='nearest|'linear|'cubic "                                                               \
    "?coordinate_transformation_mode='half_pixel|'asymmetric|'align_corners|'pytorch_half_pixel "  \
    "?nearest_mode='floor|'ceil|'round_prefer_floor|'round_prefer_ceil"
#define REDUCE "?keepdims=0|1 ?noop_with_empty_axes=0|1"
#define SCATTER "?reduction='none|'add|'mul|'max|'min"
#define LOSS "?reduction='none|'mean|'sum ?ignore_index=0|1"
#define IMAGE "T:N,G*C,H,W"
#define VECTORS                                                                                    \
    "kernel_type='LINEAR|'RBF|'POLY kernel_params=f[0.5,1.0,2.0] "                                 \
    "support_vectors=f[1.0,0.5,-1.0,2.0] coefficients=f[0.5,-1.0] rho=f[0.25]"
#define TREE                                                                                       \
    "nodes_treeids=[0,0,0] nodes_nodeids=[0,1,2] nodes_featureids=[0,0,0] "                        \
    "nodes_modes=s[BRANCH_LEQ,LEAF,LEAF] nodes_values=f[0.5,0.0,0.0] nodes_truenodeids=[1,0,0] "   \
    "nodes_falsenodeids=[2,0,0]"

/* clang-format off */
static const rnd_recipe recipes[] = {
    {"AffineGrid", "T:N,2,3 i64:4:vec(N,C,H,W)", "?align_corners=0|1", 0},
    {"AffineGrid", "T:N,3,4 i64:5:vec(N,C,D,H,W)", "?align_corners=0|1", 0},
    {"ArgMax", "T:A,*", "?axis=@axis ?keepdims=0|1 ?select_last_index=0|1", 0},
    {"ArgMin", "T:A,*", "?axis=@axis ?keepdims=0|1 ?select_last_index=0|1", 0},
    {"Attention", "T:B,Q*K,S,E T:B,K,L,E T:B,K,L,V", "?is_causal=0|1 ?scale=0.5", 0},
    {"Attention", "T:B,K,S,E T:B,K,L,E T:B,K,L,V ?T:S,L", "?softcap=2.0", 0},
    {"Attention", "T:B,S,Q*K*E T:B,L,K*E T:B,L,K*V", "q_num_heads=Q*K kv_num_heads=K", 0},
    {"AveragePool", "T:N,C,H,W", POOL " ?count_include_pad=0|1", 0},
    {"AveragePool", "T:N,C,H", "kernel_shape=[2] ?auto_pad='SAME_UPPER|'SAME_LOWER|'VALID", 0},
    {"BatchNormalization", "T:N,C,* T:C T:C T:C T:C:pos", "?epsilon=0.001", 1},
    {"Bernoulli", "T:*:unit", "seed=1.5 ?dtype=@type(num)", 0},
    {"BitShift", "T:* T:~:ints(0..9)", "direction='LEFT|'RIGHT", 0},
    {"BitCast", "f32|i32:*", "to=1|6|12", 0},
    {"BitCast", "f64|i64:*", "to=11|7|13", 0},
    {"BitCast", "u8|i8|f16|bf16|i16:*", "to=2|3|5|10|16", 0},
    {"BlackmanWindow", "T::ints(0..12)", "?periodic=0|1 ?output_datatype=@type(flt)", 0},
    {"Cast", "T:*", "to=@type(any) ?saturate=0|1", 0},
    {"Cast", "T:*", "to=@type(any|f8|i4|u4|string)", 0},
    {"CastLike", "T:* U{any}:%", NULL, 0},
    {"CausalConvWithState", "T:N,C,L T:C,1,K ?T:C ?T:N,C,K-1", "?activation='none|'silu|'swish", 0},
    {"Celu", "T:*", "?alpha=0.5|2.0", 0},
    {"CenterCropPad", "T:A,B,* i64:2:ints(0..7)", "axes=[0,1]|[1,0]", 0},
    {"CenterCropPad", "T:A,B i64:2:ints(0..7)", NULL, 0},
    {"Clip", "T:* ?T: ?T:", NULL, 0},
    {"Col2Im", "T:N,C*K*L,(P+1)*(Q+1) i64:2:vec(K+P,L+Q) i64:2:vec(K,L)", NULL, 0},
    {"Compress", "T:A,* bool:A", "axis=0", 0},
    {"Compress", "T:* bool:K", NULL, 0},
    {"Concat", "T:A,* T:B,* ?T:C,*", "axis=0", 0},
    {"Concat", "T:N,* T:= ?T:=", "axis=@axis", 0},
    {"ConcatFromSequence", "seq:A,*", "axis=0|-1 ?new_axis=0|1", 0},
    {"ConstantOfShape", "T:K:ints(0..4)", "?value=@scalar", 0},
    {"Conv", IMAGE " T:G*M,C,K,L ?T:G*M", "group=G " WINDOW, 0},
    {"Conv", "T:N,C,H,W T:M,C,3,3 ?T:M", "?pads=[1,1,1,1] ?strides=[2,2]", 0},
    {"Conv", "T:N,C,H,W T:M,C,1,1 ?T:M", NULL, 0},
    {"Conv", "T:N,C,H T:M,C,K", "?auto_pad='SAME_UPPER|'SAME_LOWER|'VALID ?strides=[2]", 0},
    {"Conv", "T:N,C,D,H,W T:M,C,2,1,2 ?T:M", "?pads=[1,0,0,1,0,1]", 0},
    {"Conv", "T:N,C,H,W T:C,1,3,3 ?T:C", "group=C ?pads=[1,1,1,1]", 0},
    {"ConvInteger", "T:N,G*C,H,W U{u8|i8}:G*M,C,K,L ?T: ?U:", "group=G " WINDOW, 0},
    {"ConvTranspose", IMAGE " T:G*C,M,K,L ?T:G*M", "group=G ?strides=[2,1]|[2,2] ?pads=[0,1,1,0]", 0},
    {"ConvTranspose", "T:N,C,H T:C,M,K", "?strides=[2] ?output_padding=[1] ?dilations=[2]", 0},
    {"CumProd", "T:A,* i64|i32::axis", "?exclusive=0|1 ?reverse=0|1", 0},
    {"CumSum", "T:A,* i64|i32::axis", "?exclusive=0|1 ?reverse=0|1", 0},
    {"DeformConv", "T:N,G*C,K+P,L+Q T:G*M,C,K,L T:N,2*K*L,P+1,Q+1 ?T:G*M ?T:N,K*L,P+1,Q+1", "group=G", 0},
    {"DepthToSpace", "T:N,C*B*B,H,W", "blocksize=B ?mode='DCR|'CRD", 0},
    {"DequantizeLinear", "T:* flt::pos ?T:", NULL, 0},
    {"DequantizeLinear", "T:N,C,* flt:C:pos ?T:C", "?axis=1", 0},
    {"DequantizeLinear", "T:A,B*2 flt:A,B:pos ?T:A,B", "axis=1 block_size=2", 0},
    {"Det", "T:*,M,M", NULL, 0},
    {"DFT", "T:N,L,2 ?i64::ints(1..9) ?i64::set(1,-2)", "?inverse=0|1", 0},
    {"DFT", "T:N,L,1", "onesided=0|1", 0},
    {"Dropout", "T:*", "?seed=3", 0},
    {"Dropout", "T:* f32::unit bool:", "seed=3", 0},
    {"Einsum", "T:A,B T:B,C", "equation='ij,jk->ik|'ij,jk->ki|'ij,jk->|'ij,jk", 0},
    {"Einsum", "T:B,A,C T:B,C,D", "equation='bij,bjk->bik|'...ij,...jk->...ik", 0},
    {"Einsum", "T:A,A", "equation='ii->i|'ii|'ij->ji", 0},
    {"Einsum", "T:A,B T:A T:B", "equation='ij,i,j->|'ij,i,j->ij", 0},
    {"Elu", "T:*", "?alpha=0.5|2.0", 0},
    {"Expand", "T:A,1,B i64:3:vec(A,C,B)", NULL, 0},
    {"Expand", "T:B i64:2:vec(A,B)", NULL, 0},
    {"Expand", "T: i64:K:ints(0..4)", NULL, 0},
    {"Expand", "T:A,B i64:2:vec(1,B)", NULL, 0},
    {"EyeLike", "T:A,B", "?k=1|-1|0 ?dtype=@type(num)", 0},
    {"Flatten", "T:*", "?axis=0|1|#", 0},
    {"Gather", "T:A,* U{i64|i32}:%:idx(A)", "?axis=0", 0},
    {"Gather", "T:B,A,* U{i64|i32}:%:idx(A)", "axis=1", 0},
    {"GatherElements", "T:A,B,* U{i64|i32}:C,B,*:idx(A)", "?axis=0", 0},
    {"GatherElements", "T:B,A U{i64|i32}:B,C:idx(A)", "axis=1|-1", 0},
    {"GatherND", "T:A,B,* i64:%,2:idx(A,B)", NULL, 0},
    {"GatherND", "T:N,A,* i64:N,K,1:idx(A)", "batch_dims=1", 0},
    {"Gelu", "T:*", "?approximate='none|'tanh", 0},
    {"Gemm", "T:A,B T:B,C ?T:C", "?alpha=0.5 ?beta=2.0", 0},
    {"Gemm", "T:B,A T:C,B ?T:A,C", "transA=1 transB=1 ?beta=0.5", 0},
    {"Gemm", "T:A,B T:C,B ?T:A,1", "transB=1", 0},
    {"GlobalAveragePool", "T:N,C,H,W", NULL, 0},
    {"GlobalLpPool", "T:N,C,H,W", "?p=1|2|3", 0},
    {"GlobalMaxPool", "T:N,C,H,W", NULL, 0},
    {"GridSample", "T:N,C,H,W U{flt}:N,P,Q,2:unit", "?mode='linear|'nearest|'cubic ?padding_mode='zeros|'border|'reflection ?align_corners=0|1", 0},
    {"GridSample", "T:N,C,H,W U{flt}:N,P,Q,2", "?mode='linear|'nearest", 0},
    {"GroupNormalization", "T:N,G*C,* T:G*C T:G*C", "num_groups=G ?epsilon=0.01", 0},
    {"GRU", "T:S,N,I T:1,3*H,I T:1,3*H,H ?T:1,6*H ?i32:N:ints(0..S) ?T:1,N,H", "hidden_size=H ?linear_before_reset=0|1 ?direction='forward|'reverse", 0},
    {"GRU", "T:S,N,I T:2,3*H,I T:2,3*H,H", "hidden_size=H direction='bidirectional", 0},
    {"HammingWindow", "T::ints(0..12)", "?periodic=0|1 ?output_datatype=@type(flt)", 0},
    {"HannWindow", "T::ints(0..12)", "?periodic=0|1 ?output_datatype=@type(flt)", 0},
    {"Hardmax", "T:A,*", "?axis=@axis", 0},
    {"HardSigmoid", "T:*", "?alpha=0.5 ?beta=0.25", 0},
    {"ImageDecoder", "u8:*:picture", "?pixel_format='RGB|'BGR|'Grayscale", 0},
    {"InstanceNormalization", "T:N,C,H,* T:C T:C", "?epsilon=0.01", 0},
    {"IsInf", "T:*", "?detect_negative=0|1 ?detect_positive=0|1", 0},
    {"LayerNormalization", "T:*,C T:C ?T:C", "?axis=-1 ?epsilon=0.01 ?stash_type=@type(flt)", 0},
    {"LayerNormalization", "T:A,B,C T:B,C ?T:B,C", "axis=1|-2", 0},
    {"LeakyRelu", "T:*", "?alpha=0.5|0.1", 0},
    {"LinearAttention", "T:B,S,Q*K*E T:B,S,K*E T:B,S,K*V", "q_num_heads=Q*K kv_num_heads=K update_rule='linear ?scale=0.5", 0},
    {"LinearAttention", "T:B,S,Q*K*E T:B,S,K*E T:B,S,K*V _ T:B,S,K T:B,S,K", "q_num_heads=Q*K kv_num_heads=K", 0},
    {"LogSoftmax", "T:A,*", "?axis=@axis", 0},
    {"LpNormalization", "T:A,*", "?axis=@axis ?p=1|2", 0},
    {"LpPool", "T:N,C,H,W", POOL " ?p=1|2", 0},
    {"LRN", "T:N,C,*", "size=3|1|2 ?alpha=0.5 ?bias=1.0", 0},
    {"LSTM", "T:S,N,I T:1,4*H,I T:1,4*H,H ?T:1,8*H ?i32:N:ints(0..S) ?T:1,N,H ?T:1,N,H ?T:1,3*H", "hidden_size=H ?direction='forward|'reverse ?input_forget=0|1", 0},
    {"LSTM", "T:S,N,I T:2,4*H,I T:2,4*H,H", "hidden_size=H direction='bidirectional", 0},
    {"MatMul", "T:*,A,B T:*,B,C", NULL, 0},
    {"MatMul", "T:*,A,B T:B,C", NULL, 0},
    {"MatMul", "T:B T:*,B,C", NULL, 0},
    {"MatMul", "T:A,B T:B", NULL, 0},
    {"MatMulInteger", "T:*,A,B U{u8|i8}:B,C ?T: ?U:", NULL, 0},
    {"MatMulInteger", "T:A,B U{u8|i8}:B,C T:A U:C", NULL, 0},
    {"MaxPool", "T:N,C,H,W", POOL " ?dilations=[1,2] ?storage_order=0|1", 0},
    {"MaxPool", "T:N,C,H", "kernel_shape=[2] ?auto_pad='SAME_UPPER|'SAME_LOWER|'VALID", 0},
    {"MaxRoiPool", "T:N,C,H,W T:R,5:nidx(N,W,H,W,H)", "pooled_shape=[2,2]|[1,3] ?spatial_scale=0.5", 0},
    {"MaxUnpool", "T:N,C,H,W i64:N,C,H,W:nidx(N*C*H*W*4)", "kernel_shape=[2,2] strides=[2,2]", 0},
    {"MeanVarianceNormalization", "T:N,C,H,W", "?axes=[0,2,3]|[1]", 0},
    {"MelWeightMatrix", "T::ints(1..8) T::ints(4..32) T::set(64,100) f32::set(0,2) f32::set(20,32)", "?output_datatype=@type(num)", 0},
    {"Mod", "T:* T:~", "fmod=1", 0},
    {"Mod", "U{int}:* U:~:ints(1..7)", "?fmod=0|1", 0},
    {"Multinomial", "T:A,B", "?sample_size=3 seed=2.5 ?dtype=6|7", 0},
    {"NegativeLogLikelihoodLoss", "T:N,C,* i64|i32:N,*:nidx(C) ?T:C", LOSS, 0},
    {"NonMaxSuppression", "f32:B,N,4:unit f32:B,C,N:unit ?i64:1:ints(0..3) ?f32:1:unit ?f32:1:unit", "?center_point_box=0|1", 0},
    {"OneHot", "num:*:idx(D) i64::vec(D) U{any}:2", "?axis=0|-1|1", 0},
    {"Optional", "any:*", NULL, 0},
    {"Optional", "seq:*", NULL, 0},
    {"OptionalGetElement", "opt:*", NULL, 0},
    {"OptionalHasElement", "opt:*", NULL, 0},
    {"OptionalHasElement", "any:*", NULL, 0},
    {"Pad", "T:A,B i64:4:ints(0..2) ?T:", "?mode='constant|'edge", 0},
    {"Pad", "T:A,B i64:4:ints(-1..2)", "?mode='constant|'wrap|'reflect", 0},
    {"Pad", "T:A,B,C i64:2:ints(0..3) T: i64:1:axis", NULL, 0},
    {"Pow", "T:* U{num}:~:ints(0..3)", NULL, 0},
    {"QLinearConv", "T:N,G*C,H,W f32::pos T: U{u8|i8}:G*M,C,K,L f32::pos U: f32::pos V{u8|i8}: ?i32:G*M", "group=G " WINDOW, 0},
    {"QLinearConv", "T:N,C,H,W f32::pos T: U{u8|i8}:M,C,K,L f32:M:pos U:M f32::pos T:", NULL, 0},
    {"QLinearMatMul", "T:*,A,B f32::pos T: U{u8|i8}:B,C f32::pos U: f32::pos T:", NULL, 0},
    {"QuantizeLinear", "T:* T::pos ?u8|i8|i16|u16:", NULL, 0},
    {"QuantizeLinear", "T:N,C,* T:C:pos u8|i8:C", "axis=1 ?saturate=0|1", 0},
    {"RandomNormal", "", "shape=[A,B] seed=1.5 ?mean=1.0 ?scale=0.5 ?dtype=@type(flt)", 0},
    {"RandomNormalLike", "T:*", "seed=1.5 ?dtype=@type(flt)", 0},
    {"RandomUniform", "", "shape=[A,B] seed=1.5 ?low=-1.0 ?high=2.0 ?dtype=@type(flt)", 0},
    {"RandomUniformLike", "T:*", "seed=1.5 ?dtype=@type(flt)", 0},
    {"Range", "T::ints(0..3) T::ints(0..9) T::ints(1..3)", NULL, 0},
    {"Range", "T::ints(3..9) T::ints(0..3) T::set(-1,-2)", NULL, 0},
    {"ReduceL1", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceL2", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceLogSum", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceLogSumExp", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceMax", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceMean", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceMin", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceProd", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceSum", "T:* ?i64:$:axes", REDUCE, 0},
    {"ReduceSumSquare", "T:* ?i64:$:axes", REDUCE, 0},
    {"RegexFullMatch", "T:*", "pattern='[a-z]+", 0},
    {"RegexFullMatch", "T:*", "pattern='.*a.*", 0},
    {"Reshape", "T:* i64:K:shape", NULL, 0},
    {"Resize", "T:N,C,H,W _ _ i64:4:vec(N,C,P,Q)", RESIZE, 0},
    {"Resize", "T:N,C,H,W _ f32:4:lit(1,1,2,0.5)", RESIZE, 0},
    {"Resize", "T:N,C,H,W _ f32:2:lit(0.75,2.5)", RESIZE " axes=[2,3] ?antialias=0|1", 0},
    {"Resize", "T:N,C,H,W _ _ i64:2:vec(P,Q)", "axes=[2,3] ?keep_aspect_ratio_policy='stretch|'not_larger|'not_smaller", 0},
    {"ReverseSequence", "T:S,N,* i64:N:ints(0..S)", NULL, 0},
    {"ReverseSequence", "T:N,S,* i64:N:ints(0..S)", "batch_axis=0 time_axis=1", 0},
    {"RMSNormalization", "T:*,C T:C", "?axis=-1 ?epsilon=0.01 ?stash_type=@type(flt)", 0},
    {"RMSNormalization", "T:A,B,C T:B,C", "axis=1", 0},
    {"RNN", "T:S,N,I T:1,H,I T:1,H,H ?T:1,2*H ?i32:N:ints(0..S) ?T:1,N,H", "hidden_size=H ?direction='forward|'reverse ?clip=1.5", 0},
    {"RNN", "T:S,N,I T:2,H,I T:2,H,H", "hidden_size=H direction='bidirectional ?activations=s[Tanh,Relu]", 0},
    {"RoiAlign", "T:N,C,H,W T:R,4 i64:R:nidx(N)", "?output_height=2 ?output_width=3 ?mode='avg|'max ?sampling_ratio=0|2 ?spatial_scale=0.5", 0},
    {"RotaryEmbedding", "T:B,K,S,2*E T:M,E T:M,E i64:B,S:nidx(M)", "?interleaved=0|1", 0},
    {"RotaryEmbedding", "T:B,K,S,2*E T:B,S,E T:B,S,E", "?interleaved=0|1", 0},
    {"Scatter", "T:A,B U{i64|i32}:C,B:idx(A) T:C,B", "?axis=0", 0},
    {"ScatterElements", "T:A,B U{i64|i32}:C,B:idx(A) T:C,B", SCATTER, 0},
    {"ScatterElements", "T:B,A U{i64|i32}:B,C:idx(A) T:B,C", "axis=1 " SCATTER, 0},
    {"ScatterND", "T:A,B,* i64:K,1:idx(A) T:K,B,*", SCATTER, 0},
    {"ScatterND", "T:A,B i64:K,2:idx(A,B) T:K", SCATTER, 0},
    {"SequenceAt", "seq:* i64|i32::set(0,-1)", NULL, 0},
    {"SequenceConstruct", "T:* ?T:* ?T:*", NULL, 0},
    {"SequenceEmpty", "", "?dtype=@type(any)", 0},
    {"SequenceErase", "seq:* ?i64::set(0,-1)", NULL, 0},
    {"SequenceInsert", "seq:* T:* ?i64|i32::set(0,-1)", NULL, 0},
    {"SequenceLength", "seq:*", NULL, 0},
    {"Shape", "T:*", "?start=0|1|-1 ?end=1|2|-1", 0},
    {"Shrink", "T:*", "?lambd=0.5 ?bias=0.25", 0},
    {"Slice", "T:A,* i64:$:ints(-3..4) i64:$:ints(-4..9) ?i64:$:axes ?i64:$:set(1,2,-1,-2)", NULL, 0},
    {"Slice", "T:A,* i32:1:ints(0..2) i32:1:ints(-2..9) i32:1:axis", NULL, 0},
    {"Softmax", "T:A,*", "?axis=@axis", 0},
    {"SoftmaxCrossEntropyLoss", "T:N,C,* i64|i32:N,*:nidx(C) ?T:C", LOSS, 0},
    {"SpaceToDepth", "T:N,C,H*B,W*B", "blocksize=B", 0},
    {"Split", "T:A+B,* i64:2:vec(A,B)", "?axis=0", 2},
    {"Split", "T:B,A*2", "axis=1 num_outputs=2", 2},
    {"Split", "T:A+4,*", "num_outputs=3", 3},
    {"SplitToSequence", "T:A,* ?i64::ints(1..3)", "?axis=0 ?keepdims=0|1", 0},
    {"SplitToSequence", "T:B,A+C i64:2:vec(A,C)", "axis=1", 0},
    {"Squeeze", "T:A,1,* i64:1:lit(1)", NULL, 0}, /* without axes the rank depends on sizes */
    {"Squeeze", "T:1,A,1 i64:2:lit(-1,0)", NULL, 0},
    {"STFT", "T:N,L+9,1 i64::set(2,3) T:8 ?i64::lit(8)", "?onesided=0|1", 0},
    {"STFT", "T:N,L+9,1 i64::set(2,3) _ i64::lit(8)", "?onesided=0|1", 0},
    {"StringNormalizer", "T:C", "?case_change_action='LOWER|'UPPER|'NONE ?is_case_sensitive=0|1 ?stopwords=s[a,cat]", 0},
    {"StringSplit", "T:*", "?delimiter='a ?maxsplit=1", 2},
    {"Swish", "T:*", "?alpha=0.5", 0},
    {"TensorScatter", "T:B,S+P,D T:B,S,D ?i64:B:ints(0..P)", "?axis=1 ?mode='linear|'circular", 0},
    {"TfIdfVectorizer", "T:N", "mode='TF|'IDF|'TFIDF min_gram_length=1 max_gram_length=2 max_skip_count=0|1 ngram_counts=[0,2] ngram_indexes=[0,1,2] pool_int64s=[1,2,1,2] ?weights=f[0.5,2.0,1.5]", 0},
    {"ThresholdedRelu", "T:*", "?alpha=0.5", 0},
    {"Tile", "T:* i64:#:ints(0..3)", NULL, 0},
    {"TopK", "T:A,* i64:1:ints(0..A)", "axis=0 ?largest=0|1 ?sorted=0|1", 2},
    {"TopK", "T:B,A i64:1:ints(1..A)", "?largest=0|1", 2},
    {"Transpose", "T:*", "?perm=@perm", 0},
    {"Trilu", "T:*,A,B ?i64::ints(-3..3)", "?upper=0|1", 0},
    {"Unique", "T:*", "?sorted=0|1", 0},
    {"Unique", "T:A,*", "axis=0 ?sorted=0|1", 0},
    {"Unsqueeze", "T:* i64:1:lit(0)", NULL, 0},
    {"Unsqueeze", "T:* i64:2:lit(-1,0)", NULL, 0},
    {"Upsample", "T:N,C,H,W f32:4:lit(1,1,2,2)", "?mode='nearest|'linear", 0},
    {"ai.onnx.preview.training:Adagrad", "f32: i64: T:* T:= T:=:pos", "?decay_factor=0.5 ?epsilon=0.01", 2},
    {"ai.onnx.preview.training:Adam", "f32: i64::ints(0..3) T:* T:= T:= T:=:pos", "?epsilon=0.01 ?norm_coefficient=0.5", 3},
    /* What it gives depends on how its inputs come about, not only on their values: y is none of the graph's. */
    {"ai.onnx.preview.training:Gradient", "f32:* f32:= f32:*:ints(0..3)", "xs=s[a] y='b", 0},
    {"ai.onnx.preview.training:Momentum", "f32: i64::ints(0..3) T:* T:= T:=", "alpha=0.5 beta=0.25 mode='standard|'nesterov norm_coefficient=0.5", 2},
    {"com.microsoft:Attention", "T:B,S,I T:I,3*K*E ?T:3*K*E", "num_heads=K ?unidirectional=0|1", 1},
    {"com.microsoft:BiasSplitGelu", "T:N,S,2*D T:2*D", NULL, 0},
    {"com.microsoft:CDist", "T:A,B T:C,B", "?metric='euclidean|'sqeuclidean", 0},
    {"com.microsoft:DequantizeLinear", "U{u8|i8|i16|u16}:* f32::pos ?U:", NULL, 0},
    {"com.microsoft:DynamicQuantizeLSTM", "f32:S,N,I U{u8|i8}:1,I,4*H U:1,H,4*H _ _ _ _ _ f32:1:pos U:1 f32:1:pos U:1", "hidden_size=H", 1},
    {"com.microsoft:DynamicQuantizeMatMul", "T:*,A,B U{u8|i8}:B,C T::pos ?U: ?T:C", NULL, 0},
    {"com.microsoft:EmbedLayerNormalization", "i32:B,S:nidx(M) i32:B,S:nidx(2) f32:M,D f32:S+P,D f32:2,D f32:D f32:D", "?epsilon=0.01", 2},
    {"com.microsoft:FusedConv", "T:N,C,H,W T:M,C,K,L ?T:M", "?activation='Relu|'Tanh|'Sigmoid", 0},
    {"com.microsoft:FusedGemm", "T:A,B T:B,C ?T:C", "activation='Relu|'Tanh|'Sigmoid", 0},
    {"com.microsoft:GatherBlockQuantized", "u4|i4:A,32 U{i64|i32}:%:idx(A) f32:A,2:pos", "block_size=16 ?gather_axis=0 ?quantize_axis=1", 0},
    {"com.microsoft:GroupNorm", "T:N,H,W,G*C f32:G*C f32:G*C", "groups=G activation=0|1 ?epsilon=0.01", 0},
    {"com.microsoft:GroupQueryAttention", "T:B,S,Q*K*E T:B,S,K*E T:B,S,K*E _ _ i32:B:vec(S-1,S-1,S-1,S-1,S-1,S-1,S-1,S-1) i32::vec(S)", "num_heads=Q*K kv_num_heads=K", 3},
    {"com.microsoft:GroupQueryAttention", "T:B,S,Q*K*E T:B,S,K*E T:B,S,K*E U{i8|u8}:B,K,P,E U:B,K,P,E i32:B:vec(S-1,S-1,S-1,S-1,S-1,S-1,S-1,S-1) i32::vec(S) _ _ _ _ _ f32:1:pos f32:1:pos", "num_heads=Q*K kv_num_heads=K k_quant_type='PER_TENSOR v_quant_type='PER_TENSOR kv_cache_bit_width=8", 3},
    {"com.microsoft:GroupQueryAttention", "T:B,S,Q*K*2*E T:B,S,K*2*E T:B,S,K*2*E u8:B,K,P,E u8:B,K,P,E i32:B:vec(S-1,S-1,S-1,S-1,S-1,S-1,S-1,S-1) i32::vec(S) _ _ _ _ _ f32:K,2*E:pos f32:K,2*E:pos", "num_heads=Q*K kv_num_heads=K k_quant_type='PER_CHANNEL v_quant_type='PER_CHANNEL kv_cache_bit_width=4", 3},
    {"com.microsoft:GroupQueryAttention", "T:B,S,Q*K*E T:B,S,K*E T:B,S,K*E T:B,K,2+P,E T:B,K,2+P,E i32:B:vec(S-1,S-1,S-1,S-1,S-1,S-1,S-1,S-1) i32::vec(S)", "num_heads=Q*K kv_num_heads=K sliding_window_cache=1 local_window_size=1|2", 3},
    {"com.microsoft:MatMulIntegerToFloat", "T:*,A,B U{u8|i8}:B,C f32::pos f32::pos ?T: ?U: ?f32:C", NULL, 0},
    {"com.microsoft:MatMulNBits", "T:*,A,32 u8:C,2,8 T:C*2:pos", "K=32 N=C bits=4 block_size=16", 0},
    {"com.microsoft:MultiHeadAttention", "T:A*W,1,K*E T:A*W,1,K*E T:A*W,1,K*E _ _ _ T:A*W,K,2+P,E T:A*W,K,2+P,E i32:1:ints(0..2) i32:A,W,2+P:nidx(W)", "num_heads=K", 3},
    {"com.microsoft:MultiHeadAttention", "T:B,S,K*E T:B,L,K*E T:B,L,K*V", "num_heads=K ?scale=0.5", 1},
    {"com.microsoft:QGemm", "T:A,B f32::pos T: U{u8|i8}:B,C f32::pos U: _ f32::pos T:", NULL, 0},
    {"com.microsoft:QLinearAdd", "T:* f32::pos T: T:~ f32::pos T: f32::pos T:", NULL, 0},
    {"com.microsoft:QLinearAveragePool", "T:N,C,H,W f32::pos T: f32::pos T:", "kernel_shape=[2,2] ?pads=[1,1,1,1] ?count_include_pad=0|1", 0},
    {"com.microsoft:QLinearConcat", "f32::pos U{u8|i8}: U:A,* f32::pos U: U:B,* f32::pos U:", "axis=0", 0},
    {"com.microsoft:QLinearGlobalAveragePool", "T:N,C,H,W f32::pos T: f32::pos T:", "channels_last=0", 0},
    {"com.microsoft:QLinearLeakyRelu", "T:* f32::pos T: f32::pos T:", "?alpha=0.5", 0},
    {"com.microsoft:QLinearMul", "T:* f32::pos T: T:~ f32::pos T: f32::pos T:", NULL, 0},
    {"com.microsoft:QLinearSigmoid", "T:* f32::pos T: f32::pos T:", NULL, 0},
    {"com.microsoft:QLinearSoftmax", "T:A,* f32::pos T: f32::pos T:", "opset=13 ?axis=@axis", 0},
    {"com.microsoft:QuantizeLinear", "T:* T::pos ?u8|i8|i16|u16:", NULL, 0},
    {"com.microsoft:RotaryEmbedding", "T:B,S,2*E i64:B,S:nidx(M) T:M,E T:M,E", "?interleaved=0|1", 0},
    {"com.microsoft:RotaryEmbedding", "T:B,K,S,2*E i64:B,S:nidx(M) T:M,E T:M,E", "?interleaved=0|1", 0},
    {"com.microsoft:SkipLayerNormalization", "T:B,S,D T:B,S,D T:D ?T:D ?T:D", NULL, 1},
    {"com.microsoft:SkipSimplifiedLayerNormalization", "T:B,S,D T:B,S,D T:D ?T:D", NULL, 1},
    {"ai.onnx.ml:CategoryMapper", "i64|string:*", "cats_strings=s[a,cat] cats_int64s=[1,2]", 0},
    {"ai.onnx.ml:Imputer", "f32:N,3", "imputed_value_floats=f[0.5] replaced_value_float=1.0", 0},
    {"ai.onnx.ml:LabelEncoder", "i64:*", "keys_int64s=[1,2] values_floats=f[0.5,1.5]", 0},
    {"ai.onnx.ml:LabelEncoder", "string:*", "keys_strings=s[a,cat] values_int64s=[3,4]", 0},
    {"ai.onnx.ml:LinearClassifier", "T:N,3", "coefficients=f[0.5,1.0,-1.0,0.25,0.5,2.0] intercepts=f[0.5,-0.5] classlabels_ints=[0,1] ?post_transform='NONE|'SOFTMAX|'LOGISTIC", 2},
    {"ai.onnx.ml:LinearRegressor", "T:N,3", "coefficients=f[0.5,1.0,-1.0] intercepts=f[0.5]", 0},
    {"ai.onnx.ml:OneHotEncoder", "i64|f32:*", "cats_int64s=[1,2,3] zeros=1", 0},
    {"ai.onnx.ml:SVMClassifier", "T:N,2", VECTORS " vectors_per_class=[1,1] classlabels_ints=[0,1]", 2},
    {"ai.onnx.ml:SVMRegressor", "T:N,2", VECTORS " n_supports=2", 0},
    {"ai.onnx.ml:CastMap", "map:*:i64,f32|string", "?cast_to='TO_FLOAT|'TO_STRING|'TO_INT64 map_form='SPARSE max_map=6", 0},
    {"ai.onnx.ml:CastMap", "map:*:i64,f32", "?cast_to='TO_FLOAT|'TO_STRING|'TO_INT64", 0},
    {"ai.onnx.ml:DictVectorizer", "map:*:i64,f32|f64|string", "int64_vocabulary=[3,0,7]|[1]", 0},
    {"ai.onnx.ml:DictVectorizer", "map:*:string,f32|f64|i64", "string_vocabulary=s[k1,k0,other]", 0},
    {"ai.onnx.ml:ZipMap", "f32:N,3", "classlabels_int64s=[0,4,1]", 0},
    {"ai.onnx.ml:ZipMap", "f32:N,2", "classlabels_strings=s[k1,k0]", 0},
    {"ai.onnx.ml:TreeEnsemble", "T:N,3", "?n_targets=2 ?aggregate_function=0|1|2|3 ?post_transform=0|1|3 nodes_splits=T[0.5,-1] nodes_modes=u8[0,4] nodes_featureids=[2,0] nodes_truenodeids=[1,0] nodes_trueleafs=[0,1] nodes_falsenodeids=[2,1] nodes_falseleafs=[1,1] tree_roots=[0] leaf_targetids=[0,0,0] leaf_weights=T[1.5,-2,0.25]", 0},
    {"ai.onnx.ml:TreeEnsembleClassifier", "T:N,3", TREE " class_treeids=[0,0] class_nodeids=[1,2] class_ids=[0,1] class_weights=f[1.5,2.0] classlabels_int64s=[4,7]", 2},
    {"ai.onnx.ml:TreeEnsembleRegressor", "T:N,3", TREE " target_treeids=[0,0] target_nodeids=[1,2] target_ids=[0,0] target_weights=f[1.5,-2.0] n_targets=1", 0},
    {"ai.onnx.preview:FlexAttention", "T:B,Q*K,S,E T:B,K,L,E T:B,K,L,V", "?scale=0.5", 0},
    {"Where", "T:* U{any|string}:~ U:~", NULL, 0},
};

/* Operators whose rounding depends on which sizes are known when they are compiled. */
static const char *const rounders[] = {
    /* A head size that is known goes into the product, one that is not divides it. */
    "Attention",
    "ai.onnx.preview:FlexAttention",
    "com.microsoft:Attention",
    "com.microsoft:GroupQueryAttention",
    "com.microsoft:MultiHeadAttention",
};

/* clang-format on */

static bool recipes_is(const hg_op *op, const char *name)
{
    const char *colon = strchr(name, ':');
    if (colon == NULL) return op->domain == NULL && strcmp(op->name, name) == 0;
    const size_t length = (size_t)(colon - name);
    return op->domain != NULL && strlen(op->domain) == length &&
           memcmp(op->domain, name, length) == 0 && strcmp(op->name, colon + 1) == 0;
}

bool rnd_rounds_by_size(const hg_op *op)
{
    for (size_t i = 0; i < HG_COUNT(rounders); i++)
        if (recipes_is(op, rounders[i])) return true;
    return false;
}

uint32_t rnd_recipe_count(const hg_op *op)
{
    uint32_t count = 0;
    for (size_t i = 0; i < HG_COUNT(recipes); i++)
        count += recipes_is(op, recipes[i].op);
    return count;
}

const rnd_recipe *rnd_recipe_get(const hg_op *op, uint32_t i)
{
    for (size_t k = 0; k < HG_COUNT(recipes); k++)
        if (recipes_is(op, recipes[k].op) && i-- == 0) return &recipes[k];
    return NULL;
}
