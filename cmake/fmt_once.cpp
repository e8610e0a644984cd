// fmt compiled once: Debian ships it as headers and a shared library alone, and header-only it would be compiled
// again in every file that formats. These are the definitions that fmt 9 leaves to its own source file.
#include "fmt/format-inl.h"

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal(float);
template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal(double);
template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref);
template FMT_API char decimal_point_impl(locale_ref);
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
