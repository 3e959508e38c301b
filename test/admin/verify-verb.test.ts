/** `covenant verify`: each mutation of a proof is found and named, and what is whole passes. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verify } from '../../src/admin/verify-verb.ts'
import { writeCheckpoint } from '../../src/proof/checkpoint.ts'
import { leafHash } from '../../src/proof/hash.ts'
import { consistencyProof, hashesOfLeaves, inclusionProof, rootOfLeaves } from '../../src/proof/merkle.ts'
import { signNote, verifierKey, verifierKeyText } from '../../src/proof/signed-note.ts'

const origin = 'example.com/audit/1'
const { privateKey: key } = generateKeyPairSync('ed25519')
const { privateKey: otherKey } = generateKeyPairSync('ed25519')
const trusted = verifierKeyText(verifierKey(origin, key))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

const entries = Array.from({ length: 20 }, (_, at) => `covenant/change/v1\n{"ref":${at}}`)
const hashed = (texts: readonly string[]) => texts.map((text) => leafHash(Buffer.from(text)))
const leaves = hashed(entries)

function noteOf(of: readonly Uint8Array[], by: KeyObject = key): string {
  return signNote(writeCheckpoint({ origin, size: of.length, root: rootOfLeaves(of) }), [
    { name: origin, key: by },
  ])
}

function proofOf(index: number, of = leaves, by = key) {
  return {
    ...{
      index,
      size: of.length,
      leaf_hash: base64(of[index] ?? new Uint8Array()),
      entry: entries[index] ?? '',
    },
    hashes: inclusionProof(index, of.length, hashesOfLeaves(of)).map(base64),
    checkpoint: noteOf(of, by),
  }
}

function consistencyOf(from: number, of = leaves, before = leaves) {
  return {
    hashes: consistencyProof(from, of.length, hashesOfLeaves(of)).map(base64),
    from_checkpoint: noteOf(before.slice(0, from)),
    to_checkpoint: noteOf(of),
  }
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verify-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(files: readonly (object | string)[], words: readonly string[] = ['--key', trusted]) {
  const paths = files.map((content, at) => {
    const path = join(folder, `${at}`)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  })
  const [out, err]: [string[], string[]] = [[], []]
  const status = await verify([...paths, ...words], {
    ...{ env: {}, stdin: async () => '' },
    print: (text) => out.push(text),
    complain: (text) => err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

const swapped = [...leaves.slice(0, 3), leaves[4], leaves[3], ...leaves.slice(5)] as Uint8Array[]
const dropped = leaves.filter((_, at) => at !== 3)
const flipped = leaves.map((leaf, at) =>
  at === 3 ? Uint8Array.from(leaf, (byte, i) => (i === 0 ? byte ^ 1 : byte)) : leaf,
)

describe('covenant verify', () => {
  test('passes what is whole', async () => {
    const files = [noteOf(leaves), { checkpoint: noteOf(leaves.slice(0, 7)) }, proofOf(3), consistencyOf(7)]
    expect(await run(files)).toEqual({ status: 0, out: 'All is well: 4 files.', err: '' })
  })

  test.each([
    [
      'an entry of which one letter was changed',
      { ...proofOf(3), entry: 'covenant/change/v1\n{"ref":4}' },
      'file 1: changed: the entry is not the one of leaf 3',
    ],
    ['a leaf with another number', { ...proofOf(3), index: 4 }, 'file 1: changed: leaf 4 is not in the tree'],
    [
      'a proof of which a hash was damaged',
      { ...proofOf(3), hashes: proofOf(4).hashes },
      'file 1: changed: leaf 3 is not in the tree',
    ],
    [
      'a proof under another key',
      proofOf(3, leaves, otherKey),
      'file 1: wrong key: the checkpoint is not signed by a trusted key',
    ],
    [
      'a proof without its entry',
      { ...proofOf(3), entry: undefined },
      'file 1: incomplete: the entry of leaf 3 is not there',
    ],
    [
      'a tree in which a row was changed',
      consistencyOf(7, flipped),
      'file 1: forked: the tree of 20 leaves does not begin with that of 7',
    ],
    ['a tree in which two rows were swapped', consistencyOf(7, swapped), 'file 1: forked: the tree of 20'],
    ['a tree from which a row was dropped', consistencyOf(7, dropped), 'file 1: forked: the tree of 19'],
    [
      'a tree whose tail was cut',
      { ...consistencyOf(5), from_checkpoint: noteOf(leaves), to_checkpoint: noteOf(leaves.slice(0, 7)) },
      'file 1: forked: the tree of 7',
    ],
    ['a file that holds nothing of it', { a: 1 }, 'file 1: malformed: it holds no proof'],
    ['a text that is no note', 'a', 'malformed: file 1 is no signed checkpoint'],
    [
      'a checkpoint of which a digit was changed',
      noteOf(leaves).replace('\n20\n', '\n21\n'),
      'wrong key: file 1 is not signed',
    ],
  ])('names %s', async (_, file, finding) => {
    const { status, out, err } = await run([file])
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toStartWith(finding)
  })

  test('names two checkpoints of one size that differ', async () => {
    const { status, err } = await run([noteOf(leaves), noteOf(swapped)])
    expect({ status, err }).toEqual({
      status: 1,
      err: 'forked: file 2 and file 1 are of 20 leaves and differ',
    })
  })

  test('takes no call without a file, a key, or with what is none', async () => {
    expect((await run([])).status).toBe(64)
    expect((await run([noteOf(leaves)], [])).status).toBe(64)
    expect((await run([noteOf(leaves)], ['--key', 'secret words'])).err).not.toContain('secret')
    expect((await run([], [join(folder, 'missing'), '--key', trusted])).status).toBe(64)
  })
})
