/** Programs of the distribution that suites run as they are installed: their versions are printed, not pinned. */

/** Ends with 0 where the program is there with the library that a suite needs, and prints its version. */
const checks = {
  php: ['php', '-r', 'if (!extension_loaded("pdo_pgsql")) exit(1); echo PHP_VERSION;'],
  perl: ['perl', '-MDBD::Pg', '-MJSON::PP', '-e', 'print "DBD::Pg $DBD::Pg::VERSION, Perl $]"'],
  ruby: [
    'ruby',
    '-e',
    'require "logger"; require "active_record"; require "pg"; require "sequel"; print "Active Record #{ActiveRecord.version}, pg #{PG::VERSION}, Sequel #{Sequel::VERSION}"',
  ],
  go: ['go', 'version'],
  R: ['Rscript', '-e', 'cat(paste("RPostgreSQL", packageVersion("RPostgreSQL")))'],
  gdal: ['ogrinfo', '--version'],
  pgbouncer: ['pgbouncer', '--version'],
  // Asked for its version, it takes seconds and writes a profile.
  libreoffice: [
    'sh',
    '-c',
    'test -e /usr/lib/libreoffice/program/libpostgresql-sdbclo.so && /usr/bin/python3 -c "import uno" && dpkg-query --show libreoffice-sdbc-postgresql',
  ],
} as const

export type Program = keyof typeof checks

/** Says which version runs. @returns false, having said that a test is skipped, where the program is not there */
export function hasProgram(name: Program): boolean {
  const [command, ...options] = checks[name]
  const found = Bun.which(command) === null ? undefined : Bun.spawnSync([command, ...options])
  const isThere = found?.exitCode === 0
  const version = isThere ? found.stdout.toString().trim().split('\n').join(' ') : ''
  console.log(isThere ? `${name}: ${version}` : `skipped: ${name} is not installed with what its test needs`)
  return isThere
}
