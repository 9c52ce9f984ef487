# An image that has nothing but the program:
#
#   docker build --tag prof .
#   docker run --rm --volume "$PWD:/work" prof top cpu.pb.gz
FROM rust:1.95-alpine AS build
# The linker needs the start files of the C library, and one library (ring, for TLS) has C code.
RUN apk add --no-cache musl-dev
COPY . /source
WORKDIR /source
# On Alpine, Rust links the C library statically.
RUN cargo build --profile shipped --locked

FROM scratch
COPY --from=build /source/target/shipped/prof /prof
COPY LICENSE LICENSE-MIT LICENSE-APACHE /
WORKDIR /work
ENTRYPOINT ["/prof"]
