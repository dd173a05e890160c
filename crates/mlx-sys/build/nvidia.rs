//! The NVIDIA libraries that MLX for CUDA loads, as wheels. They unpack to where MLX's own wheel looks for them.
//!
//! The versions are those that pip chose for MLX's requirements on the day they were pinned.

use crate::wheel::Wheel;

const fn nvidia(
    distribution: &'static str,
    version: &'static str,
    platform: &'static str,
    sha256: &'static str,
) -> Wheel {
    Wheel {
        distribution,
        version,
        platform,
        sha256,
    }
}

pub const CUDA_12_LINUX_X86_64: [Wheel; 6] = [
    nvidia(
        "nvidia-cublas-cu12",
        "12.9.3.13",
        "manylinux_2_27_x86_64",
        "d7d51055f161b317c7105ddaae90e71eda059026074ffef93cf7cde2886bfe72",
    ),
    nvidia(
        "nvidia-cuda-nvrtc-cu12",
        "12.9.86",
        "manylinux2010_x86_64",
        "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
    ),
    nvidia(
        "nvidia-cudnn-cu12",
        "9.28.0.42",
        "manylinux_2_27_x86_64",
        "9ff58b7f36dacd0a93e89f8f2957b52466889217963701daa15e577317cfa375",
    ),
    nvidia(
        "nvidia-cufft-cu12",
        "11.4.1.4",
        "manylinux2014_x86_64",
        "c67884f2a7d276b4b80eb56a79322a95df592ae5e765cf1243693365ccab4e28",
    ),
    nvidia(
        "nvidia-nccl-cu12",
        "2.32.3",
        "manylinux_2_27_x86_64",
        "bb94b2348e4861d5e8aa00b36c3d12d9bdf9c6369b82cbb723de0b582280a21c",
    ),
    nvidia(
        "nvidia-nvjitlink-cu12",
        "12.9.86",
        "manylinux2010_x86_64",
        "e3f1171dbdc83c5932a45f0f4c99180a70de9bd2718c1ab77d14104f6d7147f9",
    ),
];

pub const CUDA_12_LINUX_AARCH64: [Wheel; 6] = [
    nvidia(
        "nvidia-cublas-cu12",
        "12.9.3.13",
        "manylinux_2_27_aarch64",
        "918a8781956115d34b1db49e0e7b7befba8d101661c4b560ed4d42e0e17bebc3",
    ),
    nvidia(
        "nvidia-cuda-nvrtc-cu12",
        "12.9.86",
        "manylinux2014_aarch64",
        "096d4de6bda726415dfaf3198d4f5c522b8e70139c97feef5cd2ca6d4cd9cead",
    ),
    nvidia(
        "nvidia-cudnn-cu12",
        "9.28.0.42",
        "manylinux_2_27_aarch64",
        "f88db8fc1a0a5f458e19aa7b08fbe3500aeb9e2bb8dea6293ecbce170364ad72",
    ),
    nvidia(
        "nvidia-cufft-cu12",
        "11.4.1.4",
        "manylinux2014_aarch64",
        "1a28c9b12260a1aa7a8fd12f5ebd82d027963d635ba82ff39a1acfa7c4c0fbcf",
    ),
    nvidia(
        "nvidia-nccl-cu12",
        "2.32.3",
        "manylinux_2_27_aarch64",
        "061af42ae1044816820e16b872075e243d1ac0656f51860fbc8e106c257aa83a",
    ),
    nvidia(
        "nvidia-nvjitlink-cu12",
        "12.9.86",
        "manylinux2014_aarch64",
        "994a05ef08ef4b0b299829cde613a424382aff7efb08a7172c1fa616cc3af2ca",
    ),
];

pub const CUDA_13_LINUX_X86_64: [Wheel; 7] = [
    nvidia(
        "nvidia-cublas",
        "13.10.0.20",
        "manylinux1_x86_64",
        "dcc6d63884c53d07e267ce7e6feac17b2538cebaafec5db865736c3e28e4dc84",
    ),
    nvidia(
        "nvidia-cuda-nvrtc",
        "13.5.37",
        "manylinux2010_x86_64",
        "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
    ),
    nvidia(
        "nvidia-cuda-runtime",
        "13.5.37",
        "manylinux2014_x86_64",
        "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
    ),
    nvidia(
        "nvidia-cudnn-cu13",
        "9.28.1.4",
        "manylinux_2_27_x86_64",
        "a54f205b1db1f2895d99f398754db1369816f0569dd459731f925635cf7b65ec",
    ),
    nvidia(
        "nvidia-cufft",
        "12.5.0.14",
        "manylinux2014_x86_64",
        "b8be26837a5abad2b5b74f3e92dd29f622a42934b355be0961a48712cbba23ad",
    ),
    nvidia(
        "nvidia-nccl-cu13",
        "2.32.3",
        "manylinux_2_27_x86_64",
        "1459723080ac889d73a26edfa3e04383a7928ab31ac8f0ec43b3ea9548b04ff3",
    ),
    nvidia(
        "nvidia-nvjitlink",
        "13.5.37",
        "manylinux2010_x86_64",
        "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
    ),
];

pub const CUDA_13_LINUX_AARCH64: [Wheel; 7] = [
    nvidia(
        "nvidia-cublas",
        "13.10.0.20",
        "manylinux2014_aarch64",
        "c5f3418c0a845232a8cabc58f6fa52cfae7d8bd3680d94c3907aca710fd48d70",
    ),
    nvidia(
        "nvidia-cuda-nvrtc",
        "13.5.37",
        "manylinux2014_aarch64",
        "36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096",
    ),
    nvidia(
        "nvidia-cuda-runtime",
        "13.5.37",
        "manylinux2014_aarch64",
        "de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d",
    ),
    nvidia(
        "nvidia-cudnn-cu13",
        "9.28.1.4",
        "manylinux_2_27_aarch64",
        "759b6a4919951ed8ec603dec97b96f6a6396c8269b95b3d345526e2471fb433d",
    ),
    nvidia(
        "nvidia-cufft",
        "12.5.0.14",
        "manylinux2014_aarch64",
        "091cde103312d6e09366122fe3f67092dcfd94cc9785029d695d6bcffaa76fdf",
    ),
    nvidia(
        "nvidia-nccl-cu13",
        "2.32.3",
        "manylinux_2_27_aarch64",
        "a5bee92b2f4af218c109f8d221c3c9adcc752b94ae0ffcb0ed5abf9341a7724c",
    ),
    nvidia(
        "nvidia-nvjitlink",
        "13.5.37",
        "manylinux2014_aarch64",
        "893f6f9a55b2720ed94913b5ba3332e972da8c78dfa2863d0244403dbd528ffc",
    ),
];
