/**
 * Keeps accepted changes in a directory until they are audited, one file each, so that another process can audit them
 * after this one has died. A file survives the process at once, and the machine once it is flushed. Which changes are
 * audited, and when, is decided in unaudited-changes.ts.
 */

import { unlinkSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../base/fault.ts'
import type { AcceptedChange } from '../../core/commit.ts'

export interface AcceptedJournal {
  /** Writes or replaces the file of a change, without waiting for the disk. @throws what the file system throws */
  write(change: AcceptedChange): void
  /** Resolves once the file of the change is on the disk. */
  flush(commitId: string): Promise<void>
  /** Removes the file of a change, if there is one. */
  remove(commitId: string): Promise<void>
  /** The changes that processes before this one left. @param onUnreadable called for each file that holds none */
  read(onUnreadable: (name: string, error: unknown) => void): Promise<readonly AcceptedChange[]>
  /** Writes and removes a file. @throws Fault `unavailable` where the directory takes none */
  check(): Promise<void>
}

/** How the names of its files end. */
export const acceptedSuffix = '.accepted.json'
/** Longer than the file of most changes. */
const probeBytes = 16 * 1024

/**
 * Opens the journal in a directory of this replica's own, and makes it where it is missing.
 * @throws Fault `misconfigured` where it cannot be made or written to
 */
export async function openJournal(directory: string): Promise<AcceptedJournal> {
  const fileOf = (commitId: string) => join(directory, `${commitId}${acceptedSuffix}`)
  const journal: AcceptedJournal = {
    write(change) {
      const file = fileOf(change.intent.commitId)
      try {
        writeFileSync(file, journalText(change), { mode: 0o600 })
      } catch (error) {
        // A part of a change must not be taken for the change.
        removeNow(file)
        throw error
      }
    },
    async flush(commitId) {
      await sync(fileOf(commitId))
      await sync(directory)
    },
    remove: (commitId) => removeFile(fileOf(commitId)),
    async read(onUnreadable) {
      const changes: AcceptedChange[] = []
      for (const name of await readdir(directory)) {
        if (!name.endsWith(acceptedSuffix)) continue
        try {
          changes.push(journaled(await readFile(join(directory, name), 'utf8')))
        } catch (error) {
          onUnreadable(name, error)
        }
      }
      return changes
    },
    async check() {
      const probe = join(directory, `${crypto.randomUUID()}.probe`)
      try {
        const file = await open(probe, 'wx', 0o600)
        try {
          await file.writeFile(new Uint8Array(probeBytes))
        } finally {
          await file.close()
        }
      } catch (cause) {
        throw new Fault('unavailable', 'The journal directory refuses writes.', { cause })
      } finally {
        await removeFile(probe)
      }
    },
  }
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await journal.check()
  } catch (cause) {
    throw new Fault('misconfigured', `No files can be made in the journal directory ${directory}.`, { cause })
  }
  return journal
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}

function removeNow(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // There is none.
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

const integerKey = '$integer'

/** A change as JSON, in which an integer of 64 bits is an object with its digits. */
function journalText(change: AcceptedChange): string {
  return JSON.stringify(change, (_, value: unknown) =>
    typeof value === 'bigint' ? { [integerKey]: String(value) } : value,
  )
}

function journaled(text: string): AcceptedChange {
  const change = JSON.parse(text, (_, value: unknown) =>
    typeof value === 'object' && value !== null && integerKey in value
      ? BigInt(String(value[integerKey]))
      : value,
  ) as Partial<AcceptedChange> | null
  if (typeof change?.tenant !== 'string' || typeof change.intent?.commitId !== 'string')
    throw new Error('the file holds no accepted change')
  return { committed: undefined, ...change } as AcceptedChange
}
