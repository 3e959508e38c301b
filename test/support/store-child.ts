/** A process that a test starts on a data directory: it takes the directory, or writes until it is killed. */

import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { openStore } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { approvedOf, intentOf } from './commits.ts'
import { storeTemplate, testStoreOptions } from './store.ts'

const [dataDirectory, mode] = process.argv.slice(2)
if (dataDirectory === undefined) throw new Error('usage: store-child DIRECTORY MODE')

try {
  const store = await openStore({ ...testStoreOptions, dataDirectory, template: await storeTemplate() })
  const { id } = await createTenant(store, { name: 'child' })
  console.log(`open ${id}`)
  if (mode === 'write')
    for (;;) {
      const intent = intentOf()
      await recordVerdict(store, id, approvedOf(intent))
      console.log(`acknowledged ${intent.commitId}`)
    }
} catch (error) {
  console.log(`failed ${(error as Error).message}`)
  process.exit(1)
}
