/** Writes files of evidence that only their owner reads: lines of JSON as they come, with their number and their hash. */

import { open } from 'node:fs/promises'

/** Only a new file is written, for its owner alone. */
const created = ['wx', 0o600] as const

/** Opens a new file of JSON Lines. @throws where there is one of the name */
export async function lineFile(path: string) {
  const file = await open(path, ...created)
  const hasher = new Bun.CryptoHasher('sha256')
  let lines = 0
  const addLines = async (items: readonly string[]): Promise<void> => {
    if (items.length === 0) return
    const text = items.map((one) => `${one}\n`).join('')
    hasher.update(text)
    lines += items.length
    await file.appendFile(text)
  }
  return {
    add: (items: readonly unknown[]) => addLines(items.map((one) => JSON.stringify(one))),
    /** Adds lines that are JSON already. */
    addLines,
    /** The number of its lines so far, and their SHA-256 in hex. */
    sum: () => ({ lines, sha256: hasher.copy().digest('hex') }),
    close: () => file.close(),
  }
}

/** Writes a new file whole. @throws where there is one of the name */
export async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, ...created)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}
