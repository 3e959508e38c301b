/**
 * The clients of `pins.ts` at the newest releases that the registries have: without versions, so what comes is printed.
 * A version stands here only where one client's newest release fits no other release of another. Servers stay as pinned:
 * Iceberg publishes neither fixture nor kit with each release.
 */

import { type MavenPin, maven, type Package, python } from './pins.ts'

/** What a package of `pins.ts` installs, without its versions. pip then chooses what fits together. */
const unpinned = (pins: readonly string[]) => pins.map((pin) => pin.replace(/==.*$/, ''))

/** Maven's own word for the newest release. */
const release = 'RELEASE'
const newestOf = (pin: MavenPin): MavenPin => ({
  coordinates: pin.coordinates.map((coordinate) =>
    coordinate.replace(/^(org\.apache\.iceberg:[^:]+):[^:]+/, `$1:${release}`),
  ),
  transitive: pin.transitive,
  sha256: {},
})

/** What is fetched in place of the pins, in the form of the pins. */
export const newest: Readonly<Partial<Record<Package, readonly string[] | MavenPin>>> = {
  'python:pyiceberg': unpinned(python.pyiceberg),
  'python:pyiceberg-s3fs': unpinned(python['pyiceberg-s3fs']),
  'python:duckdb': unpinned(python.duckdb),
  'python:pgwire': unpinned(python.pgwire),
  'npm:iceberg-js': ['iceberg-js@latest'],
  'npm:pgwire': ['pg@latest', 'pg-cursor@latest', 'postgres@latest'],
  /** Iceberg has no runtime for a later Spark. */
  'python:spark': ['pyspark==4.1.*'],
  'maven:iceberg-spark': {
    coordinates: [`org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:${release}`],
    transitive: false,
    sha256: {},
  },
  /** Iceberg has no runtime for a later Flink. */
  'python:flink': ['apache-flink-libraries==2.1.*'],
  'maven:iceberg-flink': newestOf(maven['iceberg-flink']),
  'maven:iceberg-s3': newestOf(maven['iceberg-s3']),
  'maven:iceberg-java': newestOf(maven['iceberg-java']),
}
