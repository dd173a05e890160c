/* MLX's own graph, behind the arrays: identity, subgraphs, replay, comparison.
 *
 * Functions that can fail return 0 for success; `mlx_graph_error` then gives the message of this thread's last
 * failure. No C++ exception leaves this file. */

#ifndef MLX_SYS_GRAPH_H
#define MLX_SYS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mlx/c/array.h"
#include "mlx/c/device.h"
#include "mlx/c/stream.h"
#include "mlx/c/vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The message of this thread's last failure; lives until the next one. */
const char* mlx_graph_error(void);

/* The address of the array's shared descriptor: equal for two handles of one array. 0 for an empty handle. */
uintptr_t mlx_graph_id(mlx_array a);

/* Holds the address of an array's descriptor without holding its data: while a token lives, no other array gets
 * the same id. Move it freely; free it once. */
typedef struct mlx_graph_token_ {
  uintptr_t words[2];
} mlx_graph_token;
void mlx_graph_token_new(mlx_graph_token* token, mlx_array a);
void mlx_graph_token_free(mlx_graph_token* token);
bool mlx_graph_token_alive(const mlx_graph_token* token);

/* Whether an unevaluated computation stands behind the array. */
bool mlx_graph_has_primitive(mlx_array a);
/* Whether the array's data can be read without computing anything. */
bool mlx_graph_is_available(mlx_array a);

/* How many tasks MLX counts as under way in this process, on all streams. */
int mlx_graph_active_tasks(void);

/* A stream's device kind and number, without making a handle. */
void mlx_graph_stream(mlx_stream s, mlx_device_type* device, int* index);

/* The arrays of a list, as handles that borrow from the list: valid while it is, never freed. */
size_t mlx_graph_list_size(mlx_vector_array list);
mlx_array mlx_graph_list_item(mlx_vector_array list, size_t index);

/* Gives the number of a known array by id, or a negative number for one that is not known. */
typedef int64_t (*mlx_graph_known)(void* context, uintptr_t id);

/* A small program: what stands between the results of a call and the arrays known before it. It owns its
 * primitives and the leaves made inside the call; it keeps no computed array alive. */
typedef struct mlx_subgraph_ {
  void* ctx;
  size_t index;
} mlx_subgraph;

int mlx_graph_subgraph(
    mlx_subgraph* res,
    const mlx_array* results,
    size_t results_num,
    mlx_graph_known known,
    void* context);
void mlx_graph_subgraph_free(mlx_subgraph graph);

/* Many programs kept together, which costs next to nothing a program, with the arrays that walks stop at. Programs that
 * a book gives belong to it: they are not freed on their own. */
typedef struct mlx_subgraph_book_ {
  void* ctx;
} mlx_subgraph_book;
mlx_subgraph_book mlx_graph_book_new(void);
void mlx_graph_book_free(mlx_subgraph_book book);
/* From here on walks stop at the array, under a number that is not negative; the book holds a token of it, so that no
 * other array gets its id. What is asked of every array that becomes known is answered at once. */
typedef struct mlx_graph_known_array_ {
  /* Borrows from the array. */
  const int* shape;
  size_t dimensions;
  mlx_dtype dtype;
  /* Whether an unevaluated computation stands behind it. */
  bool has_primitive;
  /* A handle of its own, to be freed by the caller; empty if it was not asked for. */
  mlx_array shared;
} mlx_graph_known_array;
void mlx_graph_book_know(
    mlx_graph_known_array* res,
    mlx_subgraph_book book,
    mlx_array a,
    int64_t number,
    bool share);
/* The number of a known array, or a negative number; also for an empty handle. */
int64_t mlx_graph_book_number(mlx_subgraph_book book, mlx_array a);
/* No array is known any more; the programs stay. */
void mlx_graph_book_forget(mlx_subgraph_book book);
/* Nothing is left but the memory, for a book to come. */
void mlx_graph_book_clear(mlx_subgraph_book book);
int mlx_graph_book_add(
    mlx_subgraph* res,
    mlx_subgraph_book book,
    const mlx_array* results,
    size_t results_num);

/* Slots of a program: first the boundary, then the leaves, then the outputs of its steps in order. */
size_t mlx_graph_boundary_size(mlx_subgraph graph);
int64_t mlx_graph_boundary_item(mlx_subgraph graph, size_t index);
size_t mlx_graph_leaves_size(mlx_subgraph graph);
size_t mlx_graph_steps_size(mlx_subgraph graph);
const char* mlx_graph_step_name(mlx_subgraph graph, size_t step);
size_t mlx_graph_step_outputs(mlx_subgraph graph, size_t step);
size_t mlx_graph_step_inputs(mlx_subgraph graph, size_t step, const uint32_t** slots);
size_t mlx_graph_results(mlx_subgraph graph, const uint32_t** slots);

/* New, unevaluated results from the same primitives over other boundary arrays. */
int mlx_graph_replay(mlx_vector_array* res, mlx_subgraph graph, const mlx_array* boundary, size_t boundary_num);

/* The same, but what is behind every slot, in order. */
int mlx_graph_unfold(mlx_vector_array* res, mlx_subgraph graph, const mlx_array* boundary, size_t boundary_num);
/* New, unevaluated outputs of one step over other inputs, as many as it reads. */
int mlx_graph_replay_step(
    mlx_vector_array* res,
    mlx_subgraph graph,
    size_t step,
    const mlx_array* inputs,
    size_t inputs_num);

/* Evaluates all arrays of a list. After a failure none of them may be read. */
int mlx_graph_evaluate(mlx_vector_array list);
/* Has them computed meanwhile; `mlx_graph_evaluate` then waits for them. */
int mlx_graph_begin(mlx_vector_array list);

/* Whether evaluating the arrays of a list would meet a reduction that MLX's CPU backend may never end: over nothing but
 * empty axes of an array that does not lie in rows, it walks a shape without axes, past its end. What such a reduction
 * reads is evaluated, since only then its layout is known. */
int mlx_graph_endless(bool* res, mlx_vector_array list);

/* The numbers of the known arrays that stand behind an array. The walk stops at known arrays; each array met on
 * the way that is not known and has a primitive is given to `visit` (may be null). `found` gets at most
 * `found_max` numbers; the return value is how many there are. */
typedef void (*mlx_graph_visit)(void* context, mlx_array a);
size_t mlx_graph_ancestors(
    mlx_array a,
    mlx_graph_known known,
    mlx_graph_visit visit,
    void* context,
    int64_t* found,
    size_t found_max);

/* The same, where the known arrays are a book's. */
size_t mlx_graph_book_ancestors(
    mlx_subgraph_book book,
    mlx_array a,
    mlx_graph_visit visit,
    void* context,
    int64_t* found,
    size_t found_max);

/* How two evaluated arrays compare: bits, where all NaN are equal and zeros keep their sign. */
typedef struct mlx_graph_difference_ {
  /* 0 same, 1 shape, 2 dtype, 3 values */
  int kind;
  /* For values: how many elements differ, and the first one's place in row-major order. */
  size_t count;
  size_t first;
} mlx_graph_difference;
int mlx_graph_compare(mlx_graph_difference* res, mlx_array a, mlx_array b);
/* The same, but no more is said of values than that some differ: the search ends at the first. */
int mlx_graph_differ(mlx_graph_difference* res, mlx_array a, mlx_array b);

/* The elements of an evaluated array in row-major order: `bytes` must be its size. */
int mlx_graph_read(void* data, size_t bytes, mlx_array a);

/* The stretch of memory that the elements of an evaluated array lie in, first byte to last, whatever its strides:
 * `data` may be null to ask for the size only. */
int mlx_graph_span(void* data, size_t* bytes, mlx_array a);
/* A new array with the shape, dtype and strides of `a` over other memory, laid out as `mlx_graph_span` gives it. */
int mlx_graph_respan(mlx_array* res, mlx_array a, const void* data, size_t bytes);
/* A new array like an evaluated one in shape, dtype and strides, over a copy of its memory, laid out as
 * `mlx_graph_span` gives it: `data` borrows that copy, to be written before anything reads the array. */
int mlx_graph_copy(mlx_array* res, void** data, size_t* bytes, mlx_array a);

/* How an evaluated array lies in memory, beside its strides: how many elements of memory MLX counts as its own, and what
 * kernels may take for granted. They choose their way by it, and sum in another order. */
typedef struct mlx_graph_layout_ {
  size_t data_size;
  bool contiguous;
  bool row_contiguous;
  bool col_contiguous;
} mlx_graph_layout;
/* `strides` has room for one number for each axis, in elements. */
int mlx_graph_layout_of(mlx_graph_layout* res, int64_t* strides, mlx_array a);
/* A new array that lies as said over a copy of `bytes` of memory, laid out as `mlx_graph_span` gives it. The extents are
 * not negative, and their product and what the strides reach fit into an `int64_t`. */
int mlx_graph_lay_out(
    mlx_array* res,
    const int* shape,
    const int64_t* strides,
    size_t dimensions,
    mlx_dtype dtype,
    const mlx_graph_layout* layout,
    const void* data,
    size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
