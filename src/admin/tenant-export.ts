/**
 * Writes the export of a tenant into a folder: a file of JSON Lines for each part, and a manifest. The folder gets its
 * name once it is whole. It signs nothing, and leaves the tenant unchanged.
 */

import { lstat, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { TenantId } from '../core/tenant.ts'
import { exportPartNames, exportParts } from '../core/tenant-export.ts'
import type { Client } from './client.ts'
import { lineFile, writeNew } from './evidence/line-file.ts'
import { UsageError } from './exit-status.ts'

const proves =
  'Each SHA-256 is of the bytes of its file, and that of this manifest, which the command prints, holds them together: a change of a file is seen by who has that hash. It does not prove that the service recorded everything, nor what retention removed before. The parts were read one after the other: those of a suspended tenant are of one state.'

/**
 * Writes the export.
 * @returns what was written, for the command to print
 * @throws UsageError where the folder is there, or cannot be made
 */
export async function exportTenant(client: Pick<Client, 'run'>, tenant: TenantId, into: string) {
  const folder = resolve(into)
  if (await lstat(folder).catch(() => undefined))
    throw new UsageError('--into must name a folder that is not there yet: nothing is replaced')
  // In the same folder, so that it is renamed and not copied. Only its owner may read it.
  const partial = await mkdtemp(join(dirname(folder), `.${basename(folder)}.`)).catch((cause: unknown) => {
    throw new UsageError('--into must name a folder in one that is there and can be written', { cause })
  })
  try {
    const began = new Date()
    const files: { name: string; holds: string; lines: number; sha256: string }[] = []
    for (const part of exportPartNames) {
      const file = await lineFile(join(partial, `${part}.jsonl`))
      try {
        for await (const lines of pages(client, { tenant, part })) await file.addLines(lines)
      } finally {
        await file.close()
      }
      files.push({ name: `${part}.jsonl`, holds: exportParts[part], ...file.sum() })
    }
    const manifest = { tenant, began_at: began, ended_at: new Date(), proves, files }
    const text = `${JSON.stringify(manifest, undefined, 2)}\n`
    await writeNew(join(partial, 'manifest.json'), text)
    await rename(partial, folder)
    return {
      into: folder,
      files: files.length,
      lines: files.reduce((sum, { lines }) => sum + lines, 0),
      export_sha256: new Bun.CryptoHasher('sha256').update(text).digest('hex'),
    }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** Pages to the end, however many there are; a service that repeats one is left. */
async function* pages(
  client: Pick<Client, 'run'>,
  input: Readonly<Record<string, unknown>>,
): AsyncGenerator<readonly string[]> {
  let token: string | undefined
  do {
    const more = token === undefined ? {} : { page_token: token }
    const page = (await client.run('export_tenant', { ...input, ...more })) as {
      readonly items: readonly string[]
      readonly next_page_token?: string
    }
    yield page.items
    if (page.next_page_token !== undefined && page.next_page_token === token)
      throw new Error('the service gave the same page twice')
    token = page.next_page_token
  } while (token !== undefined)
}
