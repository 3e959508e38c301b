/** Signed notes and checkpoints, against what Go's note package publishes, and the canonical form of JSON. */

import { describe, expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { parseJson } from '../../src/base/json.ts'
import { canonicalJson } from '../../src/proof/canonical-json.ts'
import { readCheckpoint, readProof, writeCheckpoint, writeProof } from '../../src/proof/checkpoint.ts'
import { entryOf, readEntry, rowSalt, sealedMember } from '../../src/proof/entry.ts'
import { leafHash } from '../../src/proof/hash.ts'
import {
  readNote,
  readVerifierKey,
  signersOf,
  signNote,
  verifierKey,
  verifierKeyText,
} from '../../src/proof/signed-note.ts'

/** The example in the documentation of golang.org/x/mod/sumdb/note. */
const published = {
  verifier: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  signer: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  note: `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`,
}

function publishedKey() {
  const seed = Buffer.from(published.signer.slice(published.signer.indexOf('AYEK')), 'base64').subarray(1)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

describe('a signed note', () => {
  test('of Go is verified, and its key is read', () => {
    const key = readVerifierKey(published.verifier)
    const note = readNote(published.note)
    expect(key && note && signersOf(note, [key]).map(({ name }) => name)).toEqual(['PeterNeumann'])
  })

  test('is the one that Go writes, byte for byte', () => {
    const key = publishedKey()
    const text = published.note.slice(0, published.note.indexOf('\n\n') + 1)
    expect(signNote(text, [{ name: 'PeterNeumann', key }])).toBe(published.note)
    expect(verifierKeyText(verifierKey('PeterNeumann', key))).toBe(published.verifier)
  })

  test('has no signer where a letter, the name or the key is another', () => {
    const key = readVerifierKey(published.verifier)
    if (key === undefined) throw new Error('no key')
    const signers = (note: string, trusted = key) => {
      const read = readNote(note)
      return read && signersOf(read, [trusted]).length
    }
    expect(signers(published.note)).toBe(1)
    expect(signers(published.note.replace('answer', 'Answer'))).toBe(0)
    expect(signers(published.note.replace('— PeterNeumann', '— PaulNeumann'))).toBe(0)
    expect(
      signers(published.note, verifierKey('PeterNeumann', generateKeyPairSync('ed25519').privateKey)),
    ).toBe(0)
    expect(signers(published.note.replace('x08go', 'x08gp'))).toBe(0)
  })

  test('may carry two signatures, each of its own key', () => {
    const keys = [1, 2].map(() => generateKeyPairSync('ed25519').privateKey)
    const note = readNote(
      signNote(
        'a\n',
        keys.map((key) => ({ name: 'log', key })),
      ),
    )
    const trusted = keys.map((key) => verifierKey('log', key))
    expect(note && signersOf(note, trusted)).toEqual(trusted)
  })

  test('is not read where its form is another', () => {
    for (const note of ['', 'a\n', 'a\n\nb\n', 'a\n\n— x\n', published.note.slice(0, -1), 'a\n\n— x AAAA\n'])
      expect(readNote(note)).toBeUndefined()
    for (const text of ['a', 'a\n\nb\n']) expect(() => signNote(text, [])).toThrow(RangeError)
  })

  test('takes no key of another kind, with another id, or under a name with a space', () => {
    expect(() => verifierKey('log', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)).toThrow()
    expect(() => verifierKey('a b', publishedKey())).toThrow()
    expect(readVerifierKey(published.verifier.replace('c74f20a3', 'c74f20a4'))).toBeUndefined()
    expect(readVerifierKey('x')).toBeUndefined()
  })
})

describe('a checkpoint', () => {
  const root = leafHash(Buffer.from('x'))

  test('is read back', () => {
    const checkpoint = { origin: 'example.com/audit/1', size: 42, root }
    expect(readCheckpoint(writeCheckpoint(checkpoint))).toEqual(checkpoint)
  })

  test('is not read with a size, a root or an end of another form', () => {
    const good = writeCheckpoint({ origin: 'o', size: 42, root })
    for (const text of [
      good.replace('42', '042'),
      good.replace('42', '-1'),
      good.replace('42', '99999999999999999'),
      good.replace('=', ''),
      good.slice(0, -1),
      good.slice(2),
    ])
      expect(readCheckpoint(text)).toBeUndefined()
  })

  test('stands in the proof of an entry', () => {
    const proof = { index: 7, hashes: [root, leafHash(root)], checkpoint: 'o\n8\n=\n\n— o AAAAAAAA\n' }
    expect(readProof(writeProof(proof))).toEqual(proof)
    expect(readProof(writeProof(proof).replace('index 7', 'index x'))).toBeUndefined()
    expect(readProof(writeProof(proof).replace('v1', 'v2'))).toBeUndefined()
  })
})

describe('canonical JSON', () => {
  test('is that of RFC 8785', () => {
    // 3.2.2 and 3.2.3 of the RFC.
    expect(
      canonicalJson(
        parseJson(String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
          "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`),
      ),
    ).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
    expect(
      canonicalJson(
        parseJson(String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`),
      ),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  test('writes an integer beyond 2^53 as a string', () => {
    expect(canonicalJson(parseJson('[9007199254740991,9007199254740992,-9223372036854775808,-0]'))).toBe(
      '[9007199254740991,"9007199254740992","-9223372036854775808",0]',
    )
  })
})

describe('an entry', () => {
  const salt = rowSalt(new Uint8Array(32).fill(1), 'change', 5n)
  const row = {
    kind: 'change',
    ref: 5n,
    open: new Map([
      ['action', 'put-tag'],
      ['gone', null],
    ]),
    sealed: new Map([
      ['by', 'ann@acme.example'],
      ['comment', null],
    ]),
    imported: false,
  } as const

  test('shows no word that a person wrote', () => {
    const text = Buffer.from(entryOf(row, salt)).toString()
    expect(text).toBe(
      `covenant/change/v1\n{"action":"put-tag","ref":5,"sealed":{"by":"${sealedMember(salt, 'ann@acme.example')}"}}`,
    )
    expect(text).not.toContain('ann')
  })

  test('differs by salt, and says that it was imported', () => {
    const other = rowSalt(new Uint8Array(32).fill(1), 'change', 6n)
    expect(Buffer.from(entryOf(row, other)).equals(entryOf(row, salt))).toBe(false)
    expect(Buffer.from(entryOf({ ...row, imported: true }, salt)).toString()).toContain('"imported":true')
    expect(() => entryOf(row, undefined)).toThrow('salt')
  })

  test('is read by its kind, and not with one that is none', () => {
    expect(readEntry(entryOf(row, salt), parseJson)?.kind).toBe('change')
    expect(readEntry(Buffer.from('covenant/other/v1\n{}'), parseJson)).toBeUndefined()
    expect(readEntry(Buffer.from('x'), parseJson)).toBeUndefined()
  })
})
