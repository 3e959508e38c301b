/** Writes data files for the demo's sales.orders and prints the commit that adds them to the table. */

import { parseArgs } from 'node:util'
import { writeFirstOrders } from './order-files.ts'

const help = `Writes two orders as data file and manifests, and prints the commit that makes them the first snapshot of
sales.orders in a development catalog: nothing is in the table until that commit is sent and allowed.

Usage: bun demo/lake/main.ts --warehouse <folder>

  --warehouse <folder>   the folder "warehouse" in the development catalog's own
  --help                 this text
`

function readArguments() {
  try {
    return parseArgs({ options: { warehouse: { type: 'string' }, help: { type: 'boolean' } } }).values
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : thrown)
    return {}
  }
}

const { help: wanted, warehouse } = readArguments()
if (wanted || warehouse === undefined) {
  console[wanted ? 'log' : 'error'](help)
  process.exit(wanted ? 0 : 64)
}
const { commit } = await writeFirstOrders(warehouse)
console.log(commit(Date.now()))
