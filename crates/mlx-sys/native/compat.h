// Included before everything else, both when mlx-c is compiled and when bindgen reads its headers.

#ifndef MLX_SYS_COMPAT_H
#define MLX_SYS_COMPAT_H

// mlx-c declares its half types, and the functions that use them, on ARM alone, as `__fp16` and `__bf16`. mlx-rs
// needs them everywhere. Elsewhere they are plain 16-bit integers: mlx-c only copies them, so that what arrives are
// the bits. On ARM the C++ code must keep the compiler's own types, which MLX's headers use by the same names; as
// these functions pass them by address, bindgen may still read them as integers, which is what mlx-rs expects.
#if defined(MLX_SYS_BINDINGS) || \
    !(defined(__aarch64__) || defined(__ARM_FEATURE_FP16_SCALAR_ARITHMETIC) || defined(__ARM_FEATURE_BF16))
#include <stdint.h>
#define MLX_HALF_H
#define HAS_FLOAT16
#define HAS_BFLOAT16
typedef uint16_t float16_t;
typedef uint16_t bfloat16_t;
#endif

#ifdef __cplusplus
#include <version>
#if __has_include(<format>)
#include <format>
#else
// GCC before 13 has no `std::format`. mlx-c uses it for messages, with plain `{}` placeholders; this is just that.
#include <sstream>
#include <string>
#include <string_view>

namespace std {

inline void mlx_sys_format_to(ostringstream& out, string_view pattern) {
  out << pattern;
}

template <typename First, typename... Rest>
void mlx_sys_format_to(ostringstream& out, string_view pattern, const First& first, const Rest&... rest) {
  const auto placeholder = pattern.find("{}");
  if (placeholder == string_view::npos) {
    out << pattern;
    return;
  }
  out << pattern.substr(0, placeholder) << first;
  mlx_sys_format_to(out, pattern.substr(placeholder + 2), rest...);
}

template <typename... Arguments>
string format(string_view pattern, const Arguments&... arguments) {
  ostringstream out;
  mlx_sys_format_to(out, pattern, arguments...);
  return out.str();
}

} // namespace std
#endif
#endif

#endif
