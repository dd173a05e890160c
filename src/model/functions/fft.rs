//! Fourier transforms.

use mlx_rs::fft::{self, FftnOptions};
use mlx_rs::Axes;

use super::table::{exception, functions};

functions! {
    fft.fft(x: Array; n: Int, axis: Int) => fft::fft(&x, n, axis);
    fft.fft2(x: Array; s: Ints, axes: Ints) => fft::fft2(&x, s.as_deref(), axes.as_deref());
    fft.fftn(x: Array; lengths: Ints, axes: Ints) => fft::fftn(&x, options(lengths, axes));
    fft.ifft(x: Array; n: Int, axis: Int) => fft::ifft(&x, n, axis);
    fft.ifft2(x: Array; s: Ints, axes: Ints) => fft::ifft2(&x, s.as_deref(), axes.as_deref());
    fft.ifftn(x: Array; lengths: Ints, axes: Ints) => fft::ifftn(&x, options(lengths, axes));
    fft.irfft(x: Array; n: Int, axis: Int) => fft::irfft(&x, n, axis);
    fft.irfft2(x: Array; s: Ints, axes: Ints) => fft::irfft2(&x, s.as_deref(), axes.as_deref());
    fft.irfftn(x: Array; lengths: Ints, axes: Ints) => fft::irfftn(&x, options(lengths, axes));
    fft.rfft(x: Array; n: Int, axis: Int) => fft::rfft(&x, n, axis);
    fft.rfft2(x: Array; s: Ints, axes: Ints) => fft::rfft2(&x, s.as_deref(), axes.as_deref());
    fft.rfftn(x: Array; lengths: Ints, axes: Ints) => fft::rfftn(&x, options(lengths, axes));
    fft.fftfreq(n: Int; d: Double) => fft::fftfreq(usize::try_from(n).map_err(exception)?, d.unwrap_or(1.0));
    fft.rfftfreq(n: Int; d: Double) => fft::rfftfreq(usize::try_from(n).map_err(exception)?, d.unwrap_or(1.0));
    fft.fftshift(x: Array; axes: Ints) => fft::fftshift(&x, axes.as_deref());
    fft.ifftshift(x: Array; axes: Ints) => fft::ifftshift(&x, axes.as_deref());
}

fn options(lengths: Option<Vec<i32>>, axes: Option<Vec<i32>>) -> FftnOptions {
    FftnOptions {
        lengths,
        axes: axes.map_or(Axes::All, Axes::Axes),
    }
}
