/** A process that a test kills: the service with one table, and its store in the given directory. */

import { openStore } from '../../src/store/store.ts'
import { startLake } from './lake.ts'
import { ordersTable } from './lake-tables.ts'
import { storeTemplate, testStoreOptions } from './store.ts'

const [dataDirectory] = process.argv.slice(2)
if (dataDirectory === undefined) throw new Error('usage: lake-child DIRECTORY')

const store = await openStore({ ...testStoreOptions, dataDirectory, template: await storeTemplate() })
const { env, tenant } = await startLake({ store, tables: [{ ...ordersTable, rowCount: 200_000 }] })
console.log(JSON.stringify({ env, tenant }))
