/** Runs the development catalog in a process of its own, in the dialect of its argument. It ends with its parent. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../demo/catalog/dev-catalog.ts'

export const catalogWarehouse = 'bench'
export const catalogCredential = 'bench:secret'

if (import.meta.main) {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  const catalog = await startDevCatalog({
    folder: join(folder, 'catalog'),
    warehouse: catalogWarehouse,
    credential: catalogCredential,
    dialect: process.argv[2] === 'beta' ? 'beta' : 'alpha',
  })
  // An interrupt reaches the parent too, which then ends this process in order.
  process.on('SIGINT', () => {})
  process.on('disconnect', () => {
    void catalog
      .stop()
      .then(() => rm(folder, { recursive: true, force: true }))
      .finally(() => process.exit(0))
  })
  process.send?.({ url: catalog.url, tokenUrl: catalog.tokenUrl, folder })
}
