/** Starts the development catalog from the command line. */

import { parseArgs } from 'node:util'
import { startDevCatalog } from './dev-catalog.ts'

const help = `A development Iceberg REST catalog over a local folder. Not for production.

Usage: bun demo/catalog/main.ts --folder <folder> [options]

  --folder <folder>      where state and metadata files are kept; created if missing
  --port <n>             port to listen on (default 8181; 0 for any free port)
  --hostname <name>      address to listen on (default 127.0.0.1)
  --dialect <kind>       alpha (like Apache Polaris) or beta (like Project Nessie); default alpha
  --warehouse <name>     warehouse to serve (default dev)
  --credential <id:secret>  client credentials to demand; without them no token is asked for
  --token-seconds <n>    lifetime of a token (default 3600)
  --help                 this text

Failures and delays: GET and POST /dev/faults, for example
  {"delays": {"commit": 20, "load": [5, 10, 40]},
   "failures": [{"operation": "commit", "effect": "drop-after", "times": 1}], "expire-tokens": true}
  operations: config token load conditional-load commit other
  effects:    fail (with "status") conflict drop-before drop-after hang-after; {"reset": true} ends all
`

function fail(problem: string): never {
  console.error(`${problem}\n\n${help}`)
  process.exit(64)
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        folder: { type: 'string' },
        port: { type: 'string', default: '8181' },
        hostname: { type: 'string', default: '127.0.0.1' },
        dialect: { type: 'string', default: 'alpha' },
        warehouse: { type: 'string', default: 'dev' },
        credential: { type: 'string' },
        'token-seconds': { type: 'string', default: '3600' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (thrown) {
    return fail(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

const given = readArguments()
if (given.help) {
  console.log(help)
  process.exit(0)
}
const port = Number(given.port)
const tokenSeconds = Number(given['token-seconds'])
if (given.folder === undefined) fail('--folder is missing.')
if (!Number.isInteger(port) || port < 0 || port > 65_535) fail('--port must be a port number.')
if (!(tokenSeconds > 0)) fail('--token-seconds must be a positive number.')
if (given.dialect !== 'alpha' && given.dialect !== 'beta') fail('--dialect must be alpha or beta.')
if (given.credential !== undefined && !/^[^:]+:.+$/.test(given.credential))
  fail('--credential must be id:secret.')

const catalog = await startDevCatalog({
  folder: given.folder,
  port,
  hostname: given.hostname,
  dialect: given.dialect,
  warehouse: given.warehouse,
  tokenSeconds,
  ...(given.credential === undefined ? {} : { credential: given.credential }),
}).catch((error: unknown) => {
  const why = error instanceof Error ? error.message : String(error)
  console.error(`The development catalog cannot start at ${given.hostname}:${port}: ${why}`)
  process.exit(1)
})
console.log(`Development catalog (not for production) at ${catalog.url}, warehouse ${given.warehouse}`)
