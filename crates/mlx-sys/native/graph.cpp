#include "graph.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mlx/c/private/array.h"
#include "mlx/c/private/stream.h"
#include "mlx/c/private/vector.h"
#include "mlx/mlx.h"
#include "mlx/primitives.h"

namespace mx = mlx::core;

namespace {

// An array is one shared pointer to its descriptor; the tokens below rest on it.
static_assert(sizeof(mx::array) == sizeof(std::shared_ptr<void>));
static_assert(alignof(mx::array) == alignof(std::shared_ptr<void>));
static_assert(sizeof(mlx_graph_token) == sizeof(std::weak_ptr<void>));
static_assert(alignof(mlx_graph_token) >= alignof(std::weak_ptr<void>));

thread_local std::string last_error;

template <typename F>
int guarded(F&& f) {
  try {
    f();
    return 0;
  } catch (const std::exception& e) {
    last_error = e.what();
  } catch (...) {
    last_error = "an exception that is not a std::exception";
  }
  return 1;
}

const mx::array& get(mlx_array a) {
  return mlx_array_get_(a);
}

std::weak_ptr<void>& weak(mlx_graph_token* token) {
  return *std::launder(reinterpret_cast<std::weak_ptr<void>*>(token));
}

using Slot = uint32_t;

// From array id to slot. Most subgraphs have a handful of arrays, for which a scan beats hashing.
class Slots {
 public:
  const Slot* find(uintptr_t id) const {
    if (hashed_.empty()) {
      for (const auto& [known, slot] : scanned_) {
        if (known == id) {
          return &slot;
        }
      }
      return nullptr;
    }
    auto found = hashed_.find(id);
    return found == hashed_.end() ? nullptr : &found->second;
  }

  void insert(uintptr_t id, Slot slot) {
    if (hashed_.empty() && scanned_.size() < 24) {
      scanned_.emplace_back(id, slot);
      return;
    }
    if (hashed_.empty()) {
      hashed_.insert(scanned_.begin(), scanned_.end());
    }
    hashed_.emplace(id, slot);
  }

 private:
  std::vector<std::pair<uintptr_t, Slot>> scanned_;
  std::unordered_map<uintptr_t, Slot> hashed_;
};

struct Step {
  std::shared_ptr<mx::Primitive> primitive;
  std::vector<Slot> inputs;
  std::vector<mx::Shape> shapes;
  std::vector<mx::Dtype> dtypes;
  Slot first_output;
};

struct Program {
  std::vector<int64_t> boundary;
  std::vector<mx::array> leaves;
  std::vector<Step> steps;
  std::vector<Slot> results;
};

Program& program(mlx_subgraph graph) {
  return *static_cast<Program*>(graph.ctx);
}

// Boundary, leaves and steps are numbered in the order met, each in a range of its own; `finish` moves the ranges
// behind one another once their sizes are known.
constexpr Slot kLeaf = 1u << 30;
constexpr Slot kStep = 2u << 30;
constexpr Slot kKind = 3u << 30;

class Builder {
 public:
  Builder(mlx_graph_known known, void* context) : known_(known), context_(context) {}

  Program build(const mlx_array* results, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      visit(get(results[i]));
    }
    for (size_t i = 0; i < n; ++i) {
      program_.results.push_back(*slots_.find(get(results[i]).id()));
    }
    finish();
    return std::move(program_);
  }

 private:
  // A walk with a stack of its own, since a closure's graph may be deeper than the thread's stack.
  void visit(const mx::array& root) {
    struct Frame {
      mx::array a;
      size_t next;
    };
    if (place(root)) {
      return;
    }
    std::vector<Frame> stack;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      const auto& inputs = stack.back().a.inputs();
      if (stack.back().next < inputs.size()) {
        const auto& input = inputs[stack.back().next++];
        if (!place(input)) {
          stack.push_back({input, 0});
        }
        continue;
      }
      if (!slots_.find(stack.back().a.id())) {
        add_step(stack.back().a);
      }
      stack.pop_back();
    }
  }

  // Gives an array its slot if it needs no step: seen already, known, or a leaf.
  bool place(const mx::array& a) {
    if (slots_.find(a.id())) {
      return true;
    }
    if (auto number = known_(context_, a.id()); number >= 0) {
      slots_.insert(a.id(), static_cast<Slot>(program_.boundary.size()));
      program_.boundary.push_back(number);
      return true;
    }
    if (!a.has_primitive()) {
      slots_.insert(a.id(), kLeaf | static_cast<Slot>(program_.leaves.size()));
      program_.leaves.push_back(a);
      return true;
    }
    return false;
  }

  void add_step(const mx::array& a) {
    Step step;
    step.primitive = a.primitive_ptr();
    step.inputs.reserve(a.inputs().size());
    for (const auto& input : a.inputs()) {
      step.inputs.push_back(*slots_.find(input.id()));
    }
    step.first_output = outputs_;
    auto add = [&](const mx::array& output) {
      step.shapes.push_back(output.shape());
      step.dtypes.push_back(output.dtype());
      // A sibling may be known already, as the result of an earlier call: whoever reads it reads the boundary.
      if (output.id() == a.id() || known_(context_, output.id()) < 0) {
        slots_.insert(output.id(), kStep | outputs_);
      }
      ++outputs_;
    };
    if (a.siblings().empty()) {
      add(a);
    } else {
      for (const auto& output : a.outputs()) {
        add(output);
      }
    }
    program_.steps.push_back(std::move(step));
  }

  Slot moved(Slot slot) const {
    auto number = slot & ~kKind;
    switch (slot & kKind) {
      case kLeaf:
        return static_cast<Slot>(program_.boundary.size()) + number;
      case kStep:
        return static_cast<Slot>(program_.boundary.size() + program_.leaves.size()) + number;
      default:
        return number;
    }
  }

  void finish() {
    for (auto& step : program_.steps) {
      for (auto& slot : step.inputs) {
        slot = moved(slot);
      }
      step.first_output = moved(kStep | step.first_output);
    }
    for (auto& slot : program_.results) {
      slot = moved(slot);
    }
  }

  mlx_graph_known known_;
  void* context_;
  Slots slots_;
  Program program_;
  Slot outputs_ = 0;
};

// The lowest and highest offset, in elements from the first one, that an array's strides reach.
std::pair<int64_t, int64_t> reach(const mx::array& a) {
  int64_t low = 0;
  int64_t high = 0;
  for (size_t i = 0; i < a.ndim(); ++i) {
    auto way = a.strides()[i] * static_cast<int64_t>(a.shape()[i] - 1);
    (way < 0 ? low : high) += way;
  }
  // Kernels that see a contiguous array read `data_size` elements in a row.
  if (a.flags().contiguous) {
    high = std::max(high, static_cast<int64_t>(a.data_size()) - 1 + low);
  }
  return {low, high};
}

void must_be_available(const mx::array& a) {
  if (!a.is_available()) {
    throw std::runtime_error("the array is not evaluated, so its data cannot be read");
  }
}

// Calls `f` with the byte offset of each element from the array's data pointer, in row-major order.
template <typename F>
void each(const mx::array& a, F&& f) {
  auto size = a.size();
  auto width = static_cast<int64_t>(a.itemsize());
  if (a.flags().row_contiguous) {
    for (size_t i = 0; i < size; ++i) {
      f(static_cast<int64_t>(i) * width);
    }
    return;
  }
  std::vector<int32_t> at(a.ndim(), 0);
  int64_t offset = 0;
  for (size_t i = 0; i < size; ++i) {
    f(offset * width);
    for (size_t d = a.ndim(); d-- > 0;) {
      offset += a.strides()[d];
      if (++at[d] < a.shape()[d]) {
        break;
      }
      offset -= a.strides()[d] * a.shape()[d];
      at[d] = 0;
    }
  }
}

template <typename T>
bool is_nan_bits(T bits, T exponent, T mantissa) {
  return (bits & exponent) == exponent && (bits & mantissa) != 0;
}

template <typename T>
T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

bool same_f32(const char* p, const char* q) {
  auto x = load<uint32_t>(p);
  auto y = load<uint32_t>(q);
  return x == y || (is_nan_bits(x, 0x7f800000u, 0x007fffffu) && is_nan_bits(y, 0x7f800000u, 0x007fffffu));
}

bool same_element(mx::Dtype dtype, size_t width, const char* p, const char* q) {
  switch (dtype.val()) {
    case mx::Dtype::Val::float16: {
      auto x = load<uint16_t>(p);
      auto y = load<uint16_t>(q);
      return x == y || (is_nan_bits<uint16_t>(x, 0x7c00, 0x03ff) && is_nan_bits<uint16_t>(y, 0x7c00, 0x03ff));
    }
    case mx::Dtype::Val::bfloat16: {
      auto x = load<uint16_t>(p);
      auto y = load<uint16_t>(q);
      return x == y || (is_nan_bits<uint16_t>(x, 0x7f80, 0x007f) && is_nan_bits<uint16_t>(y, 0x7f80, 0x007f));
    }
    case mx::Dtype::Val::float32:
      return same_f32(p, q);
    case mx::Dtype::Val::complex64:
      return same_f32(p, q) && same_f32(p + 4, q + 4);
    case mx::Dtype::Val::float64: {
      auto x = load<uint64_t>(p);
      auto y = load<uint64_t>(q);
      constexpr uint64_t exponent = 0x7ff0000000000000ull;
      constexpr uint64_t mantissa = 0x000fffffffffffffull;
      return x == y || (is_nan_bits(x, exponent, mantissa) && is_nan_bits(y, exponent, mantissa));
    }
    default:
      return std::memcmp(p, q, width) == 0;
  }
}

const char* bytes_of(const mx::array& a) {
  return a.data<char>();
}

} // namespace

extern "C" const char* mlx_graph_error(void) {
  return last_error.c_str();
}

extern "C" uintptr_t mlx_graph_id(mlx_array a) {
  return a.ctx ? get(a).id() : 0;
}

extern "C" void mlx_graph_token_new(mlx_graph_token* token, mlx_array a) {
  new (token) std::weak_ptr<void>(*static_cast<const std::shared_ptr<void>*>(a.ctx));
}

extern "C" void mlx_graph_token_free(mlx_graph_token* token) {
  weak(token).~weak_ptr();
}

extern "C" bool mlx_graph_token_alive(const mlx_graph_token* token) {
  return !weak(const_cast<mlx_graph_token*>(token)).expired();
}

extern "C" bool mlx_graph_has_primitive(mlx_array a) {
  return a.ctx && get(a).has_primitive();
}

extern "C" bool mlx_graph_is_available(mlx_array a) {
  return a.ctx && get(a).is_available();
}

extern "C" void mlx_graph_stream(mlx_stream s, mlx_device_type* device, int* index) {
  const auto& stream = mlx_stream_get_(s);
  *device = stream.device == mx::Device::cpu ? MLX_CPU : MLX_GPU;
  *index = stream.index;
}

extern "C" size_t mlx_graph_list_size(mlx_vector_array list) {
  return list.ctx ? mlx_vector_array_get_(list).size() : 0;
}

extern "C" mlx_array mlx_graph_list_item(mlx_vector_array list, size_t index) {
  return mlx_array{&mlx_vector_array_get_(list)[index]};
}

extern "C" int mlx_graph_subgraph(
    mlx_subgraph* res,
    const mlx_array* results,
    size_t results_num,
    mlx_graph_known known,
    void* context) {
  return guarded([&] { res->ctx = new Program(Builder(known, context).build(results, results_num)); });
}

extern "C" void mlx_graph_subgraph_free(mlx_subgraph graph) {
  delete static_cast<Program*>(graph.ctx);
}

extern "C" size_t mlx_graph_boundary_size(mlx_subgraph graph) {
  return program(graph).boundary.size();
}

extern "C" int64_t mlx_graph_boundary_item(mlx_subgraph graph, size_t index) {
  return program(graph).boundary[index];
}

extern "C" size_t mlx_graph_leaves_size(mlx_subgraph graph) {
  return program(graph).leaves.size();
}

extern "C" size_t mlx_graph_steps_size(mlx_subgraph graph) {
  return program(graph).steps.size();
}

extern "C" const char* mlx_graph_step_name(mlx_subgraph graph, size_t step) {
  return program(graph).steps[step].primitive->name();
}

extern "C" size_t mlx_graph_step_outputs(mlx_subgraph graph, size_t step) {
  return program(graph).steps[step].shapes.size();
}

extern "C" size_t mlx_graph_step_inputs(mlx_subgraph graph, size_t step, const uint32_t** slots) {
  const auto& inputs = program(graph).steps[step].inputs;
  *slots = inputs.data();
  return inputs.size();
}

extern "C" size_t mlx_graph_results(mlx_subgraph graph, const uint32_t** slots) {
  *slots = program(graph).results.data();
  return program(graph).results.size();
}

extern "C" int mlx_graph_replay(
    mlx_vector_array* res,
    mlx_subgraph graph,
    const mlx_array* boundary,
    size_t boundary_num) {
  return guarded([&] {
    const auto& p = program(graph);
    if (boundary_num != p.boundary.size()) {
      throw std::invalid_argument("as many boundary arrays are needed as the subgraph has");
    }
    std::vector<mx::array> slots;
    slots.reserve(p.boundary.size() + p.leaves.size() + p.steps.size());
    for (size_t i = 0; i < boundary_num; ++i) {
      slots.push_back(get(boundary[i]));
    }
    slots.insert(slots.end(), p.leaves.begin(), p.leaves.end());
    for (const auto& step : p.steps) {
      std::vector<mx::array> inputs;
      inputs.reserve(step.inputs.size());
      for (auto slot : step.inputs) {
        inputs.push_back(slots[slot]);
      }
      if (step.shapes.size() == 1) {
        slots.push_back(mx::array(step.shapes[0], step.dtypes[0], step.primitive, std::move(inputs)));
      } else {
        for (auto& output : mx::array::make_arrays(step.shapes, step.dtypes, step.primitive, inputs)) {
          slots.push_back(std::move(output));
        }
      }
    }
    std::vector<mx::array> results;
    results.reserve(p.results.size());
    for (auto slot : p.results) {
      results.push_back(slots[slot]);
    }
    mlx_vector_array_set_(*res, std::move(results));
  });
}

extern "C" int mlx_graph_evaluate(mlx_vector_array list) {
  return guarded([&] { mx::eval(mlx_vector_array_get_(list)); });
}

extern "C" size_t mlx_graph_ancestors(
    mlx_array a,
    mlx_graph_known known,
    mlx_graph_visit visit,
    void* context,
    int64_t* found,
    size_t found_max) {
  std::vector<int64_t> numbers;
  Slots seen;
  std::vector<mx::array> stack;
  stack.push_back(get(a));
  while (!stack.empty()) {
    auto next = std::move(stack.back());
    stack.pop_back();
    if (seen.find(next.id())) {
      continue;
    }
    seen.insert(next.id(), 0);
    if (auto number = known(context, next.id()); number >= 0) {
      numbers.push_back(number);
      continue;
    }
    if (!next.has_primitive()) {
      continue;
    }
    if (visit) {
      visit(context, mlx_array{&next});
    }
    stack.insert(stack.end(), next.inputs().begin(), next.inputs().end());
  }
  std::sort(numbers.begin(), numbers.end());
  std::copy_n(numbers.begin(), std::min(numbers.size(), found_max), found);
  return numbers.size();
}

extern "C" int mlx_graph_compare(mlx_graph_difference* res, mlx_array left, mlx_array right) {
  return guarded([&] {
    const auto& a = get(left);
    const auto& b = get(right);
    *res = {0, 0, 0};
    if (a.shape() != b.shape()) {
      res->kind = 1;
      return;
    }
    if (a.dtype() != b.dtype()) {
      res->kind = 2;
      return;
    }
    if (a.size() == 0) {
      return;
    }
    must_be_available(a);
    must_be_available(b);
    auto width = a.itemsize();
    auto p = bytes_of(a);
    auto q = bytes_of(b);
    if (a.flags().row_contiguous && b.flags().row_contiguous && std::memcmp(p, q, a.nbytes()) == 0) {
      return;
    }
    std::vector<int64_t> others;
    const bool both_rows = a.flags().row_contiguous && b.flags().row_contiguous;
    if (!both_rows) {
      others.reserve(b.size());
      each(b, [&](int64_t offset) { others.push_back(offset); });
    }
    size_t i = 0;
    each(a, [&](int64_t offset) {
      auto other = both_rows ? offset : others[i];
      if (!same_element(a.dtype(), width, p + offset, q + other)) {
        if (res->count++ == 0) {
          res->first = i;
        }
      }
      ++i;
    });
    res->kind = res->count ? 3 : 0;
  });
}

extern "C" int mlx_graph_read(void* data, size_t bytes, mlx_array array) {
  return guarded([&] {
    const auto& a = get(array);
    if (bytes != a.nbytes()) {
      throw std::invalid_argument("the buffer does not have the size of the array");
    }
    if (bytes == 0) {
      return;
    }
    must_be_available(a);
    auto width = a.itemsize();
    auto from = bytes_of(a);
    auto to = static_cast<char*>(data);
    if (a.flags().row_contiguous) {
      std::memcpy(to, from, bytes);
      return;
    }
    each(a, [&](int64_t offset) {
      std::memcpy(to, from + offset, width);
      to += width;
    });
  });
}

extern "C" int mlx_graph_span(void* data, size_t* bytes, mlx_array array) {
  return guarded([&] {
    const auto& a = get(array);
    if (a.size() == 0) {
      *bytes = 0;
      return;
    }
    must_be_available(a);
    auto [low, high] = reach(a);
    auto width = static_cast<int64_t>(a.itemsize());
    *bytes = static_cast<size_t>((high - low + 1) * width);
    if (data) {
      std::memcpy(data, bytes_of(a) + low * width, *bytes);
    }
  });
}

extern "C" int mlx_graph_respan(mlx_array* res, mlx_array array, const void* data, size_t bytes) {
  return guarded([&] {
    const auto& a = get(array);
    auto copy = [&](size_t n) {
      auto buffer = mx::allocator::malloc(n);
      if (n) {
        std::memcpy(buffer.raw_ptr(), data, n);
      }
      return buffer;
    };
    // A descriptor of its own with the shape and dtype; its data is set below.
    auto made = mx::array(mx::allocator::Buffer(nullptr), a.shape(), a.dtype(), [](mx::allocator::Buffer) {});
    if (a.size() == 0) {
      made.set_data(copy(0), 0, a.strides(), a.flags(), mx::allocator::free);
    } else {
      auto [low, high] = reach(a);
      auto width = static_cast<int64_t>(a.itemsize());
      if (bytes != static_cast<size_t>((high - low + 1) * width)) {
        throw std::invalid_argument("the memory does not have the size of the array's span");
      }
      made.set_data(copy(bytes), a.data_size(), a.strides(), a.flags(), -low * width, mx::allocator::free);
    }
    mlx_array_set_(*res, std::move(made));
  });
}
