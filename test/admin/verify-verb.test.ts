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

const entries = Array.from(
  { length: 20 },
  (_, at) => `covenant/change/v1\n{"at":"2026-01-01T00:00:00.000000Z","ref":${at}}`,
)
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
    expect(await run(files)).toEqual({
      ...{ status: 0, err: '' },
      out: [
        'file 1: a checkpoint of example.com/audit/1 with 20 leaves',
        'file 2: a checkpoint of example.com/audit/1 with 7 leaves',
        'file 3: change 3, at 2026-01-01T00:00:00.000000Z is leaf 3 of 20 of example.com/audit/1',
        'file 4: the tree of 20 leaves of example.com/audit/1 begins with that of 7',
        'All is well: 4 files.',
      ].join('\n'),
    })
  })

  describe('compares every checkpoint in every file', () => {
    const bothForked = (out: string) => expect(out).toContain('are of 20 leaves and differ')

    test('also that of a proof and those of a proof of consistency', async () => {
      bothForked((await run([noteOf(leaves), proofOf(5, swapped)])).err)
      bothForked((await run([proofOf(5), proofOf(6, swapped)])).err)
      const other = consistencyOf(7, swapped, swapped)
      expect((await run([other])).status).toBe(0)
      const { status, err } = await run([other, consistencyOf(7)])
      expect(status).toBe(1)
      bothForked(err)
      expect(err).toContain('are of 7 leaves and differ')
    })

    test('and passes two sizes only where a file shows that one begins with the other', async () => {
      const [small, great] = [noteOf(leaves.slice(0, 7)), noteOf(leaves)]
      expect(await run([small, great])).toMatchObject({
        status: 1,
        err: 'incomplete: no file shows that the tree of 20 leaves of example.com/audit/1 begins with that of 7 in file 1',
      })
      expect((await run([small, great, consistencyOf(7)])).status).toBe(0)
      const step = consistencyOf(7, leaves.slice(0, 12))
      expect((await run([small, great, step])).status).toBe(1)
      expect((await run([small, great, step, consistencyOf(12)])).status).toBe(0)
    })

    test('and is not content that two trees begin with a third one', async () => {
      const fork = [...leaves.slice(0, 8), ...flipped.slice(2, 6)]
      const { status, err } = await run([consistencyOf(7), consistencyOf(7, fork)])
      expect(status).toBe(1)
      expect(err).toContain('incomplete: no file shows that the tree of 20 leaves')
      expect(err).toContain('begins with that of 12')
    })
  })

  describe('of a record of an hour', () => {
    const records = [1, 2, 3].map((at) => `covenant/usage-hour/v1\n{"query":"q-${at}","ref":${at}}`)
    const root = Buffer.from(rootOfLeaves(hashed(records))).toString('hex')
    const hour = (more = '') => `covenant/usage-hour/v1\n{${more}"after":0,"ref":3,"root":"${root}","rows":3}`
    const proof = (outer: string, entry = records[1] ?? '') => {
      const of = hashed([outer])
      const hashes = inclusionProof(1, 3, hashesOfLeaves(hashed(records))).map(base64)
      return {
        ...{ index: 0, leaf_hash: base64(of[0] ?? new Uint8Array()), hashes: [], checkpoint: noteOf(of) },
        entry: outer,
        within: { index: 1, size: 3, hashes, entry },
      }
    }

    test('says which it is', async () => {
      const { status, out } = await run([proof(hour())])
      expect(status).toBe(0)
      expect(out).toStartWith('file 1: usage-hour 2, query q-2 in usage-hour 3 is leaf 0 of 1 of')
    })

    test('finds the one of another record, and a leaf that only holds the words of a root', async () => {
      const changed = 'changed: record 1 is not among those of its hour'
      expect((await run([proof(hour(), records[2])])).err).toContain(changed)
      const quoted = `covenant/administration/v1\n{"ref":1,"rows":3,"text":{"root":"${root}"}}`
      expect((await run([proof(quoted)])).err).toContain(changed)
      const nested = `covenant/usage-hour/v1\n{"ref":1,"rows":3,"text":{"root":"${root}"}}`
      expect((await run([proof(nested)])).err).toContain(changed)
    })

    test('is incomplete where only the hour is proven', async () => {
      const { status, err } = await run([{ ...proof(hour()), within: undefined }])
      expect({ status, err }).toEqual({
        status: 1,
        err: 'file 1: incomplete: leaf 0 stands for the records of an hour, and none of them is proven',
      })
    })
  })

  test('prints no text of an entry that could steer a terminal', async () => {
    const entry = 'covenant/change/v1\n{"at":"\\u001b[2J","ref":1}'
    const of = hashed([entry])
    const file = {
      index: 0,
      leaf_hash: base64(of[0] ?? new Uint8Array()),
      hashes: [],
      checkpoint: noteOf(of),
      entry,
    }
    expect((await run([file])).out).toStartWith('file 1: change 1 is leaf 0 of 1 of')
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
    ['a text that is no note', 'a', 'file 1: malformed: it is no signed checkpoint'],
    [
      'a checkpoint of which a digit was changed',
      noteOf(leaves).replace('\n20\n', '\n21\n'),
      'file 1: wrong key: it is not signed',
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
