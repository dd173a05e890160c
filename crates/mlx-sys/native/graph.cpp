#include "graph.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mlx/c/private/array.h"
#include "mlx/c/private/enums.h"
#include "mlx/c/private/stream.h"
#include "mlx/c/private/vector.h"
#include "mlx/mlx.h"
#include "mlx/primitives.h"
#include "mlx/scheduler.h"

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

// Descriptors are aligned and lie apart, so the low bits of an id say nothing: multiply (by 2^64 over the golden ratio,
// after Knuth) and take the high ones.
size_t spread(uintptr_t id) {
  return static_cast<size_t>((static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15ull) >> 32);
}

// From array id to a number: an open table that only grows.
class Numbers {
 public:
  // The number, or -1.
  int64_t find(uintptr_t id) const {
    for (auto at = spread(id) & mask();; at = (at + 1) & mask()) {
      const auto& entry = entries_[at];
      if (entry.id == id) {
        return entry.number;
      }
      if (entry.id == 0) {
        return -1;
      }
    }
  }

  void clear() {
    if (used_ > 0) {
      std::fill(entries_.begin(), entries_.end(), Entry{});
      used_ = 0;
    }
  }

  void insert(uintptr_t id, int64_t number) {
    if (2 * ++used_ > entries_.size()) {
      auto old = std::move(entries_);
      entries_.assign(2 * old.size(), Entry{});
      for (const auto& entry : old) {
        if (entry.id) {
          put(entry);
        }
      }
    }
    put({id, number});
  }

 private:
  struct Entry {
    uintptr_t id = 0;
    int64_t number = 0;
  };

  size_t mask() const {
    return entries_.size() - 1;
  }

  void put(const Entry& entry) {
    auto at = spread(entry.id) & mask();
    while (entries_[at].id && entries_[at].id != entry.id) {
      at = (at + 1) & mask();
    }
    entries_[at] = entry;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(2048);
  size_t used_ = 0;
};

// From array id to slot, for one walk. Most walks meet a handful of arrays, which are found by looking at each; the rest
// of a longer one goes into an open table whose entries carry the walk's number, so that a new walk starts empty
// without clearing anything.
class Slots {
 public:
  void start() {
    near_used_ = 0;
    if (far_used_ > 0) {
      far_used_ = 0;
      if (++walk_ == 0) {
        far_.assign(far_.size(), Far{});
        walk_ = 1;
      }
    }
  }

  const Slot* find(uintptr_t id) const {
    for (size_t i = 0; i < near_used_; ++i) {
      if (near_[i].id == id) {
        return &near_[i].slot;
      }
    }
    if (far_used_ == 0) {
      return nullptr;
    }
    for (auto at = spread(id) & mask();; at = (at + 1) & mask()) {
      const auto& entry = far_[at];
      if (entry.walk != walk_) {
        return nullptr;
      }
      if (entry.id == id) {
        return &entry.slot;
      }
    }
  }

  void insert(uintptr_t id, Slot slot) {
    if (near_used_ < std::size(near_)) {
      near_[near_used_++] = {id, slot};
      return;
    }
    if (2 * ++far_used_ > far_.size()) {
      grow();
    }
    put(id, slot);
  }

 private:
  struct Near {
    uintptr_t id;
    Slot slot;
  };

  struct Far {
    uintptr_t id = 0;
    uint32_t walk = 0;
    Slot slot = 0;
  };

  size_t mask() const {
    return far_.size() - 1;
  }

  void put(uintptr_t id, Slot slot) {
    auto at = spread(id) & mask();
    while (far_[at].walk == walk_ && far_[at].id != id) {
      at = (at + 1) & mask();
    }
    far_[at] = {id, walk_, slot};
  }

  void grow() {
    auto old = std::move(far_);
    far_.assign(2 * old.size(), Far{});
    for (const auto& entry : old) {
      if (entry.walk == walk_) {
        put(entry.id, entry.slot);
      }
    }
  }

  Near near_[12];
  size_t near_used_ = 0;
  std::vector<Far> far_ = std::vector<Far>(64);
  uint32_t walk_ = 1;
  size_t far_used_ = 0;
};

struct Step {
  std::shared_ptr<mx::Primitive> primitive;
  // Places in the book's flat lists.
  uint32_t first_input;
  uint32_t first_output;
  uint32_t inputs;
  uint32_t outputs;
};

struct Output {
  uint32_t first_extent;
  uint32_t extents;
  mx::Dtype dtype;
};

// One small program of a book, by its ranges of the book's flat lists.
struct Program {
  uint32_t numbers;
  uint32_t leaves;
  uint32_t steps;
  uint32_t outputs;
  uint32_t results;
  uint32_t boundary_num;
  uint32_t leaves_num;
  uint32_t steps_num;
  uint32_t results_num;
};

struct Frame {
  const mx::array* a;
  size_t next;
};

// What a walk needs meanwhile. Kept with the book, so that a walk allocates next to nothing; thread-local variables
// of a shared library would cost more than the walk.
struct Scratch {
  Slots slots;
  std::vector<Frame> stack;
  // The slots of the inputs seen so far, of all frames on the stack: each frame's follow one another.
  std::vector<Slot> gathered;
};

// Many programs in flat lists, since one is written for every observed call.
struct Book {
  Scratch scratch;
  // The arrays that a walk stops at, and what keeps their ids from being given to others.
  Numbers known;
  std::vector<std::weak_ptr<void>> tokens;
  std::vector<Program> programs;
  // For each program the numbers of its boundary.
  std::vector<int64_t> numbers;
  std::vector<mx::array> leaves;
  std::vector<Step> steps;
  std::vector<Slot> inputs;
  std::vector<Output> outputs;
  std::vector<int32_t> extents;
  // For each program the slots of its results.
  std::vector<Slot> results;
};

Book& book(mlx_subgraph graph) {
  return *static_cast<Book*>(graph.ctx);
}

const Program& program(mlx_subgraph graph) {
  return book(graph).programs[graph.index];
}

const Step& step_of(mlx_subgraph graph, size_t step) {
  return book(graph).steps[program(graph).steps + step];
}

// While a walk is under way, boundary, leaves and steps are numbered in the order met, each in a range of its own;
// `finish` moves the ranges behind one another once their sizes are known.
constexpr Slot kLeaf = 1u << 30;
constexpr Slot kStep = 2u << 30;
constexpr Slot kKind = 3u << 30;

// Where the next element of a flat list goes. Four thousand million are more than memory holds of them.
template <typename T>
uint32_t place_in(const std::vector<T>& list) {
  if (list.size() > std::numeric_limits<uint32_t>::max()) {
    throw std::length_error("the book of subgraphs is full");
  }
  return static_cast<uint32_t>(list.size());
}

// `known` gives the number of a known array by id, or a negative number.
template <typename Known>
class Writer {
 public:
  Writer(Book& book, const Known& known)
      : book_(book),
        known_(known),
        slots_(book.scratch.slots),
        stack_(book.scratch.stack),
        gathered_(book.scratch.gathered),
        program_{
            place_in(book.numbers),
            place_in(book.leaves),
            place_in(book.steps),
            place_in(book.outputs),
            place_in(book.results),
            0,
            0,
            0,
            0},
        first_input_(book.inputs.size()) {
    slots_.start();
    stack_.clear();
    gathered_.clear();
  }

  // Takes back what a failed walk has written.
  void undo() {
    book_.numbers.resize(program_.numbers);
    book_.leaves.erase(book_.leaves.begin() + program_.leaves, book_.leaves.end());
    book_.steps.resize(program_.steps);
    book_.inputs.resize(first_input_);
    book_.outputs.erase(book_.outputs.begin() + program_.outputs, book_.outputs.end());
  }

  void write(const mlx_array* results, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      visit(get(results[i]));
    }
    finish(results, n);
  }

 private:
  // A walk with a stack of its own, since a closure's graph may be deeper than the thread's stack_. The arrays are
  // those in the inputs of others, which nobody changes meanwhile.
  void visit(const mx::array& root) {
    if (place(root)) {
      return;
    }
    stack_.push_back({&root, 0});
    while (!stack_.empty()) {
      auto& frame = stack_.back();
      const auto& inputs = frame.a->inputs();
      if (frame.next < inputs.size()) {
        const auto& input = inputs[frame.next++];
        if (!place(input)) {
          stack_.push_back({&input, 0});
        }
        continue;
      }
      const auto* a = frame.a;
      stack_.pop_back();
      gathered_.push_back(add_step(*a));
    }
  }

  // Gives an array its slot, and puts it among the gathered ones, if it needs no step: seen already, known, or a leaf.
  bool place(const mx::array& a) {
    const auto id = a.id();
    if (const auto* slot = slots_.find(id)) {
      gathered_.push_back(*slot);
      return true;
    }
    if (auto number = known_(id); number >= 0) {
      book_.numbers.push_back(number);
      return seen(id, program_.boundary_num++);
    }
    if (!a.has_primitive()) {
      book_.leaves.push_back(a);
      return seen(id, kLeaf | program_.leaves_num++);
    }
    return false;
  }

  bool seen(uintptr_t id, Slot slot) {
    slots_.insert(id, slot);
    gathered_.push_back(slot);
    return true;
  }

  // The slot of an array whose inputs are all gathered_. Two frames may stand for one array, if it was met again on
  // the way down to itself's inputs: the first to come back makes the step.
  Slot add_step(const mx::array& a) {
    const auto n = a.inputs().size();
    const auto first = gathered_.end() - static_cast<std::ptrdiff_t>(n);
    if (const auto* slot = slots_.find(a.id())) {
      gathered_.resize(gathered_.size() - n);
      return *slot;
    }
    book_.steps.push_back({
        a.primitive_ptr(),
        place_in(book_.inputs),
        place_in(book_.outputs),
        static_cast<uint32_t>(n),
        static_cast<uint32_t>(a.siblings().size() + 1),
    });
    for (auto slot = first; slot != gathered_.end(); ++slot) {
      book_.inputs.push_back(*slot);
    }
    gathered_.resize(gathered_.size() - n);
    Slot own = 0;
    auto add = [&](const mx::array& output) {
      const auto slot = kStep | static_cast<Slot>(book_.outputs.size() - program_.outputs);
      const bool is_own = output.id() == a.id();
      if (is_own) {
        own = slot;
      }
      // A sibling may be known already, as the result of an earlier call: whoever reads it reads the boundary.
      if (is_own || known_(output.id()) < 0) {
        slots_.insert(output.id(), slot);
      }
      const auto& shape = output.shape();
      book_.outputs.push_back({place_in(book_.extents), static_cast<uint32_t>(shape.size()), output.dtype()});
      for (auto extent : shape) {
        book_.extents.push_back(extent);
      }
    };
    if (a.siblings().empty()) {
      add(a);
    } else {
      for (const auto& output : a.outputs()) {
        add(output);
      }
    }
    ++program_.steps_num;
    return own;
  }

  Slot moved(Slot slot) const {
    auto number = slot & ~kKind;
    switch (slot & kKind) {
      case kLeaf:
        return program_.boundary_num + number;
      case kStep:
        return program_.boundary_num + program_.leaves_num + number;
      default:
        return number;
    }
  }

  void finish(const mlx_array* results, size_t n) {
    for (auto i = first_input_; i < book_.inputs.size(); ++i) {
      book_.inputs[i] = moved(book_.inputs[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      book_.results.push_back(moved(*slots_.find(get(results[i]).id())));
    }
    program_.results_num = static_cast<uint32_t>(n);
    book_.programs.push_back(program_);
  }

  Book& book_;
  const Known& known_;
  Slots& slots_;
  std::vector<Frame>& stack_;
  std::vector<Slot>& gathered_;
  Program program_;
  size_t first_input_;
};

// The lowest and highest offset, in elements from the first one, that strides reach.
std::pair<int64_t, int64_t>
reach(const mx::Shape& shape, const mx::Strides& strides, bool contiguous, size_t data_size) {
  int64_t low = 0;
  int64_t high = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto way = strides[i] * static_cast<int64_t>(shape[i] - 1);
    (way < 0 ? low : high) += way;
  }
  // Kernels that see a contiguous array read `data_size` elements in a row.
  if (contiguous) {
    high = std::max(high, static_cast<int64_t>(data_size) - 1 + low);
  }
  return {low, high};
}

std::pair<int64_t, int64_t> reach(const mx::array& a) {
  return reach(a.shape(), a.strides(), a.flags().contiguous, a.data_size());
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

extern "C" int mlx_graph_active_tasks(void) {
  return mx::scheduler::n_active_tasks();
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
  return guarded([&] {
    auto made = std::make_unique<Book>();
    auto number = [&](uintptr_t id) { return known(context, id); };
    Writer(*made, number).write(results, results_num);
    *res = {made.release(), 0};
  });
}

extern "C" void mlx_graph_subgraph_free(mlx_subgraph graph) {
  delete static_cast<Book*>(graph.ctx);
}

extern "C" mlx_subgraph_book mlx_graph_book_new(void) {
  // Room for a small model from the start: growing step by step copies what is there each time.
  auto made = new Book;
  made->tokens.reserve(512);
  made->programs.reserve(512);
  made->numbers.reserve(1024);
  made->leaves.reserve(128);
  made->steps.reserve(512);
  made->inputs.reserve(1024);
  made->outputs.reserve(512);
  made->extents.reserve(2048);
  made->results.reserve(512);
  return {made};
}

extern "C" void mlx_graph_book_free(mlx_subgraph_book b) {
  delete static_cast<Book*>(b.ctx);
}

extern "C" void mlx_graph_book_know(
    mlx_graph_known_array* res,
    mlx_subgraph_book b,
    mlx_array handle,
    int64_t number,
    bool share) {
  auto& pages = *static_cast<Book*>(b.ctx);
  const auto& a = get(handle);
  pages.known.insert(a.id(), number);
  pages.tokens.emplace_back(*static_cast<const std::shared_ptr<void>*>(handle.ctx));
  *res = {
      a.shape().data(),
      a.ndim(),
      mlx_dtype_to_c(a.dtype()),
      a.has_primitive(),
      mlx_array{share ? new mx::array(a) : nullptr},
  };
}

extern "C" int64_t mlx_graph_book_number(mlx_subgraph_book b, mlx_array a) {
  return a.ctx ? static_cast<Book*>(b.ctx)->known.find(get(a).id()) : -1;
}

extern "C" void mlx_graph_book_forget(mlx_subgraph_book b) {
  static_cast<Book*>(b.ctx)->known.clear();
  static_cast<Book*>(b.ctx)->tokens.clear();
}

extern "C" void mlx_graph_book_clear(mlx_subgraph_book b) {
  mlx_graph_book_forget(b);
  auto& pages = *static_cast<Book*>(b.ctx);
  pages.programs.clear();
  pages.numbers.clear();
  pages.leaves.clear();
  pages.steps.clear();
  pages.inputs.clear();
  pages.outputs.clear();
  pages.extents.clear();
  pages.results.clear();
}

extern "C" int mlx_graph_book_add(
    mlx_subgraph* res,
    mlx_subgraph_book b,
    const mlx_array* results,
    size_t results_num) {
  return guarded([&] {
    auto& pages = *static_cast<Book*>(b.ctx);
    auto number = [&](uintptr_t id) { return pages.known.find(id); };
    Writer writer(pages, number);
    try {
      writer.write(results, results_num);
    } catch (...) {
      writer.undo();
      throw;
    }
    *res = {b.ctx, pages.programs.size() - 1};
  });
}

extern "C" size_t mlx_graph_boundary_size(mlx_subgraph graph) {
  return program(graph).boundary_num;
}

extern "C" int64_t mlx_graph_boundary_item(mlx_subgraph graph, size_t index) {
  return book(graph).numbers[program(graph).numbers + index];
}

extern "C" size_t mlx_graph_leaves_size(mlx_subgraph graph) {
  return program(graph).leaves_num;
}

extern "C" size_t mlx_graph_steps_size(mlx_subgraph graph) {
  return program(graph).steps_num;
}

extern "C" const char* mlx_graph_step_name(mlx_subgraph graph, size_t step) {
  return step_of(graph, step).primitive->name();
}

extern "C" size_t mlx_graph_step_outputs(mlx_subgraph graph, size_t step) {
  return step_of(graph, step).outputs;
}

extern "C" size_t mlx_graph_step_inputs(mlx_subgraph graph, size_t step, const uint32_t** inputs) {
  *inputs = book(graph).inputs.data() + step_of(graph, step).first_input;
  return step_of(graph, step).inputs;
}

extern "C" size_t mlx_graph_results(mlx_subgraph graph, const uint32_t** results) {
  *results = book(graph).results.data() + program(graph).results;
  return program(graph).results_num;
}

// The outputs of one step over other inputs, unevaluated, behind those that are there.
static void apply(mlx_subgraph graph, size_t index, std::vector<mx::array> inputs, std::vector<mx::array>& arrays) {
  const auto& b = book(graph);
  const auto& step = step_of(graph, index);
  if (inputs.size() != step.inputs) {
    throw std::invalid_argument("as many inputs are needed as the step reads");
  }
  const auto* outputs = &b.outputs[step.first_output];
  auto shape = [&](const Output& output) {
    auto first = b.extents.begin() + static_cast<std::ptrdiff_t>(output.first_extent);
    return mx::Shape(first, first + output.extents);
  };
  if (step.outputs == 1) {
    arrays.push_back(mx::array(shape(*outputs), outputs->dtype, step.primitive, std::move(inputs)));
    return;
  }
  std::vector<mx::Shape> shapes;
  std::vector<mx::Dtype> dtypes;
  for (uint32_t j = 0; j < step.outputs; ++j) {
    shapes.push_back(shape(outputs[j]));
    dtypes.push_back(outputs[j].dtype);
  }
  for (auto& output : mx::array::make_arrays(std::move(shapes), dtypes, step.primitive, inputs)) {
    arrays.push_back(std::move(output));
  }
}

// What is behind each slot: boundary, leaves, and the outputs of the steps, computed anew and not evaluated.
static std::vector<mx::array> unfold(mlx_subgraph graph, const mlx_array* boundary, size_t boundary_num) {
  const auto& b = book(graph);
  const auto& p = program(graph);
  if (boundary_num != p.boundary_num) {
    throw std::invalid_argument("as many boundary arrays are needed as the subgraph has");
  }
  std::vector<mx::array> arrays;
  arrays.reserve(p.boundary_num + p.leaves_num + p.steps_num);
  for (size_t i = 0; i < boundary_num; ++i) {
    arrays.push_back(get(boundary[i]));
  }
  for (size_t i = 0; i < p.leaves_num; ++i) {
    arrays.push_back(b.leaves[p.leaves + i]);
  }
  for (size_t i = 0; i < p.steps_num; ++i) {
    const auto& step = step_of(graph, i);
    std::vector<mx::array> inputs;
    inputs.reserve(step.inputs);
    for (uint32_t j = 0; j < step.inputs; ++j) {
      inputs.push_back(arrays[b.inputs[step.first_input + j]]);
    }
    apply(graph, i, std::move(inputs), arrays);
  }
  return arrays;
}

extern "C" int mlx_graph_replay(
    mlx_vector_array* res,
    mlx_subgraph graph,
    const mlx_array* boundary,
    size_t boundary_num) {
  return guarded([&] {
    const auto arrays = unfold(graph, boundary, boundary_num);
    std::vector<mx::array> results;
    const uint32_t* slots_of_results = nullptr;
    auto n = mlx_graph_results(graph, &slots_of_results);
    results.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      results.push_back(arrays[slots_of_results[i]]);
    }
    mlx_vector_array_set_(*res, std::move(results));
  });
}

extern "C" int mlx_graph_unfold(
    mlx_vector_array* res,
    mlx_subgraph graph,
    const mlx_array* boundary,
    size_t boundary_num) {
  return guarded([&] { mlx_vector_array_set_(*res, unfold(graph, boundary, boundary_num)); });
}

extern "C" int mlx_graph_replay_step(
    mlx_vector_array* res,
    mlx_subgraph graph,
    size_t step,
    const mlx_array* inputs,
    size_t inputs_num) {
  return guarded([&] {
    std::vector<mx::array> read;
    read.reserve(inputs_num);
    for (size_t i = 0; i < inputs_num; ++i) {
      read.push_back(get(inputs[i]));
    }
    std::vector<mx::array> outputs;
    apply(graph, step, std::move(read), outputs);
    mlx_vector_array_set_(*res, std::move(outputs));
  });
}

extern "C" int mlx_graph_evaluate(mlx_vector_array list) {
  return guarded([&] { mx::eval(mlx_vector_array_get_(list)); });
}

extern "C" int mlx_graph_begin(mlx_vector_array list) {
  return guarded([&] { mx::async_eval(mlx_vector_array_get_(list)); });
}

// Whether MLX would walk a shape without axes: see the header. The plan of a reduction leaves out axes of fewer than
// two elements, except where the array lies in rows, or where all of it is reduced and lies together.
static bool endless(const mx::array& a) {
  const auto* reduce = dynamic_cast<const mx::Reduce*>(&a.primitive());
  if (!reduce) {
    return false;
  }
  if (a.primitive().device() != mx::Device::cpu || a.size() == 0 || a.inputs().size() != 1) {
    return false;
  }
  auto in = a.inputs()[0];
  if (in.size() != 0) {
    return false;
  }
  mx::eval({in});
  const bool whole = reduce->state().second.size() == in.ndim() && in.flags().contiguous && in.data_size() == 0;
  return !whole && !in.flags().row_contiguous;
}

extern "C" int mlx_graph_endless(bool* res, mlx_vector_array list) {
  return guarded([&] {
    *res = false;
    // In an order in which each array follows what it reads, so that evaluating what a reduction reads is safe.
    std::unordered_set<uintptr_t> seen;
    std::vector<std::pair<mx::array, size_t>> stack;
    for (const auto& root : mlx_vector_array_get_(list)) {
      if (seen.insert(root.id()).second && root.has_primitive()) {
        stack.push_back({root, 0});
      }
      while (!stack.empty()) {
        auto& [a, next] = stack.back();
        // What is evaluated has let go of its inputs.
        if (a.has_primitive() && next < a.inputs().size()) {
          auto input = a.inputs()[next++];
          if (seen.insert(input.id()).second && input.has_primitive()) {
            stack.push_back({std::move(input), 0});
          }
          continue;
        }
        if (a.has_primitive() && endless(a)) {
          *res = true;
          return;
        }
        stack.pop_back();
      }
    }
  });
}

template <typename Known>
static size_t ancestors(
    mlx_array a,
    const Known& known,
    mlx_graph_visit visit,
    void* context,
    int64_t* found,
    size_t found_max) {
  std::vector<int64_t> numbers;
  std::unordered_set<uintptr_t> seen;
  std::vector<mx::array> pending;
  pending.push_back(get(a));
  while (!pending.empty()) {
    auto next = std::move(pending.back());
    pending.pop_back();
    if (!seen.insert(next.id()).second) {
      continue;
    }
    if (auto number = known(next.id()); number >= 0) {
      numbers.push_back(number);
      continue;
    }
    if (!next.has_primitive()) {
      continue;
    }
    if (visit) {
      visit(context, mlx_array{&next});
    }
    pending.insert(pending.end(), next.inputs().begin(), next.inputs().end());
  }
  std::sort(numbers.begin(), numbers.end());
  std::copy_n(numbers.begin(), std::min(numbers.size(), found_max), found);
  return numbers.size();
}

extern "C" size_t mlx_graph_ancestors(
    mlx_array a,
    mlx_graph_known known,
    mlx_graph_visit visit,
    void* context,
    int64_t* found,
    size_t found_max) {
  return ancestors(a, [&](uintptr_t id) { return known(context, id); }, visit, context, found, found_max);
}

extern "C" size_t mlx_graph_book_ancestors(
    mlx_subgraph_book b,
    mlx_array a,
    mlx_graph_visit visit,
    void* context,
    int64_t* found,
    size_t found_max) {
  const auto& known = static_cast<Book*>(b.ctx)->known;
  return ancestors(a, [&](uintptr_t id) { return known.find(id); }, visit, context, found, found_max);
}

static int compare(mlx_graph_difference* res, mlx_array left, mlx_array right, bool only_whether) {
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
    size_t i = 0;
    auto note = [&](int64_t one, int64_t other) {
      if (!same_element(a.dtype(), width, p + one, q + other)) {
        if (res->count++ == 0) {
          res->first = i;
        }
      }
      ++i;
    };
    const bool rows = a.flags().row_contiguous && b.flags().row_contiguous;
    // Two arrays that lie in memory alike, without gaps, have equal elements where they have equal memory.
    const bool alike = rows ||
        (a.flags().contiguous && b.flags().contiguous && a.strides() == b.strides() && a.data_size() == a.size() &&
         b.data_size() == b.size() && std::all_of(a.strides().begin(), a.strides().end(), [](auto s) { return s >= 0; }));
    if (alike && std::memcmp(p, q, a.nbytes()) == 0) {
      return;
    }
    // In the order of memory, which is that of the elements only where they lie in rows.
    if (rows || (alike && only_whether)) {
      for (size_t n = a.size(); i < n && !(only_whether && res->count);) {
        auto offset = static_cast<int64_t>(i * width);
        note(offset, offset);
      }
    } else {
      std::vector<int64_t> others;
      others.reserve(b.size());
      each(b, [&](int64_t offset) { others.push_back(offset); });
      each(a, [&](int64_t offset) { note(offset, others[i]); });
    }
    res->kind = res->count ? 3 : 0;
  });
}

extern "C" int mlx_graph_compare(mlx_graph_difference* res, mlx_array left, mlx_array right) {
  return compare(res, left, right, false);
}

extern "C" int mlx_graph_differ(mlx_graph_difference* res, mlx_array left, mlx_array right) {
  return compare(res, left, right, true);
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

// How an array lies in memory.
struct Layout {
  mx::Shape shape;
  mx::Strides strides;
  mx::Dtype dtype;
  mx::array::Flags flags;
  size_t data_size;
  size_t size;
};

static Layout layout_of(const mx::array& a) {
  // An array without elements may have been made without saying how it lies.
  auto known = a.size() != 0;
  return {a.shape(), a.strides(), a.dtype(), a.flags(), known ? a.data_size() : 0, a.size()};
}

// A new array over `bytes` of memory that `fill` writes first.
template <typename Fill>
static mx::array laid_out(const Layout& layout, size_t bytes, Fill&& fill) {
  auto [low, high] = layout.size
      ? reach(layout.shape, layout.strides, layout.flags.contiguous, layout.data_size)
      : std::pair<int64_t, int64_t>(0, -1);
  auto width = static_cast<int64_t>(mx::size_of(layout.dtype));
  if (bytes != static_cast<size_t>((high - low + 1) * width)) {
    throw std::invalid_argument("the memory does not have the size of the array's span");
  }
  // A descriptor of its own with the shape and dtype; its data is set below.
  auto made = mx::array(mx::allocator::Buffer(nullptr), layout.shape, layout.dtype, [](mx::allocator::Buffer) {});
  auto buffer = mx::allocator::malloc(bytes);
  if (bytes) {
    fill(static_cast<char*>(buffer.raw_ptr()));
  }
  made.set_data(buffer, layout.data_size, layout.strides, layout.flags, -low * width, mx::allocator::free);
  return made;
}

extern "C" int mlx_graph_respan(mlx_array* res, mlx_array array, const void* data, size_t bytes) {
  return guarded([&] {
    auto fill = [&](char* memory) { std::memcpy(memory, data, bytes); };
    mlx_array_set_(*res, laid_out(layout_of(get(array)), bytes, fill));
  });
}

extern "C" int mlx_graph_copy(mlx_array* res, void** data, size_t* bytes, mlx_array array) {
  return guarded([&] {
    const auto& a = get(array);
    *data = nullptr;
    *bytes = 0;
    auto from = static_cast<const char*>(nullptr);
    if (a.size()) {
      must_be_available(a);
      auto [low, high] = reach(a);
      auto width = static_cast<int64_t>(a.itemsize());
      *bytes = static_cast<size_t>((high - low + 1) * width);
      from = bytes_of(a) + low * width;
    }
    auto fill = [&](char* memory) {
      std::memcpy(memory, from, *bytes);
      *data = memory;
    };
    mlx_array_set_(*res, laid_out(layout_of(a), *bytes, fill));
  });
}

extern "C" int mlx_graph_layout_of(mlx_graph_layout* res, int64_t* strides, mlx_array array) {
  return guarded([&] {
    const auto& a = get(array);
    must_be_available(a);
    auto layout = layout_of(a);
    std::copy(layout.strides.begin(), layout.strides.end(), strides);
    res->data_size = layout.data_size;
    res->contiguous = layout.flags.contiguous;
    res->row_contiguous = layout.flags.row_contiguous;
    res->col_contiguous = layout.flags.col_contiguous;
  });
}

extern "C" int mlx_graph_lay_out(
    mlx_array* res,
    const int* shape,
    const int64_t* strides,
    size_t dimensions,
    mlx_dtype dtype,
    const mlx_graph_layout* layout,
    const void* data,
    size_t bytes) {
  return guarded([&] {
    auto known = Layout{
        mx::Shape(shape, shape + dimensions),
        mx::Strides(strides, strides + dimensions),
        mlx_dtype_to_cpp(dtype),
        mx::array::Flags{layout->contiguous, layout->row_contiguous, layout->col_contiguous},
        layout->data_size,
        1};
    for (auto extent : known.shape) {
      known.size *= static_cast<size_t>(extent);
    }
    auto fill = [&](char* memory) { std::memcpy(memory, data, bytes); };
    mlx_array_set_(*res, laid_out(known, bytes, fill));
  });
}
