/** The tree, against the roots that Certificate Transparency publishes, and its proofs, each against the definition. */

import { describe, expect, test } from 'bun:test'
import { emptyEdge, grow, rootOfEdge } from '../../src/proof/growing-tree.ts'
import { leafHash, nodeHash, sha256 } from '../../src/proof/hash.ts'
import {
  consistencyProof,
  hashesOfLeaves,
  inclusionProof,
  rootOfLeaves,
  verifyConsistency,
  verifyInclusion,
} from '../../src/proof/merkle.ts'
import {
  bundlePath,
  hashesOfTiles,
  readBundle,
  tilePath,
  tilesReadBy,
  tileWidthIn,
  writeBundle,
} from '../../src/proof/tiles.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The eight leaves of the reference tests of Certificate Transparency, and the roots of the trees that they form. */
const vectors = {
  entries: [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ],
  roots: [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ],
}
const published = vectors.entries.map((entry) => leafHash(Buffer.from(entry, 'hex')))
const leaves = Array.from({ length: 700 }, (_, at) => leafHash(Buffer.from(`leaf ${at}`)))

/** RFC 6962, 2.1, word for word. */
function definedRoot(of: readonly Uint8Array[]): Uint8Array {
  if (of.length === 0) return sha256()
  if (of.length === 1) return of[0] as Uint8Array
  let half = 1
  while (half * 2 < of.length) half *= 2
  return nodeHash(definedRoot(of.slice(0, half)), definedRoot(of.slice(half)))
}

describe('a tree', () => {
  test('has the published roots', () => {
    expect(vectors.roots.map((_, at) => hex(rootOfLeaves(published.slice(0, at + 1))))).toEqual(vectors.roots)
    expect(hex(rootOfLeaves([]))).toBe(hex(sha256()))
  })

  test('has the published proofs', () => {
    const hashAt = hashesOfLeaves(published)
    expect(inclusionProof(5, 8, hashAt).map(hex)).toEqual([
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ])
    expect(consistencyProof(6, 8, hashAt).map(hex)).toEqual([
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ])
  })

  test('proves each leaf of each size, and no other leaf, place, size or root', () => {
    for (let size = 1; size <= 40; size += 1) {
      const some = leaves.slice(0, size)
      const hashAt = hashesOfLeaves(some)
      const root = definedRoot(some)
      for (let index = 0; index < size; index += 1) {
        const proof = inclusionProof(index, size, hashAt)
        const leaf = leaves[index] as Uint8Array
        expect(verifyInclusion({ index, size, root }, leaf, proof)).toBe(true)
        expect(verifyInclusion({ index, size, root }, leaves[index + 1] as Uint8Array, proof)).toBe(false)
        expect(verifyInclusion({ index: index + 1, size, root }, leaf, proof)).toBe(false)
        expect(verifyInclusion({ index, size, root: leaf }, leaf, proof)).toBe(size === 1)
        expect(verifyInclusion({ index, size, root }, leaf, [...proof, leaf])).toBe(false)
        if (proof.length > 0)
          expect(verifyInclusion({ index, size, root }, leaf, proof.slice(0, -1))).toBe(false)
      }
    }
  })

  test('proves each size to begin each later one, and no other', () => {
    for (let to = 1; to <= 40; to += 1) {
      const hashAt = hashesOfLeaves(leaves.slice(0, to))
      const after = { size: to, root: definedRoot(leaves.slice(0, to)) }
      for (let from = 1; from <= to; from += 1) {
        const before = { size: from, root: definedRoot(leaves.slice(0, from)) }
        const proof = consistencyProof(from, to, hashAt)
        expect(verifyConsistency(before, after, proof)).toBe(true)
        const forked = { size: from, root: definedRoot(leaves.slice(1, from + 1)) }
        expect(verifyConsistency(forked, after, proof)).toBe(false)
        expect(verifyConsistency(before, { size: to, root: leaves[0] as Uint8Array }, proof)).toBe(
          to === 1 && from === 1,
        )
        expect(verifyConsistency(before, after, [...proof, leaves[0] as Uint8Array])).toBe(false)
        if (proof.length > 0) expect(verifyConsistency(before, after, proof.slice(0, -1))).toBe(false)
      }
    }
  })

  test('that grows by any steps has the root and the tiles of one made at once', () => {
    for (const step of [1, 7, 255, 256, 257, 700]) {
      let edge = emptyEdge
      const tiles = new Map<string, Uint8Array>()
      for (let at = 0; at < leaves.length; at += step) {
        const grown = grow(edge, leaves.slice(at, at + step))
        edge = grown.edge
        for (const { level, index, hashes } of grown.filled) tiles.set(`${level} ${index}`, hashes)
        expect(hex(rootOfEdge(edge))).toBe(hex(definedRoot(leaves.slice(0, edge.size))))
      }
      expect([...tiles.keys()]).toEqual(['0 0', '0 1'])
      const tails = edge.tails
      const hashAt = hashesOfTiles(({ level, index }) => {
        return tiles.get(`${level} ${index}`) ?? tails[level] ?? new Uint8Array()
      })
      const wanted = hashesOfLeaves(leaves)
      expect(inclusionProof(300, 700, hashAt)).toEqual(inclusionProof(300, 700, wanted))
      expect(consistencyProof(257, 700, hashAt)).toEqual(consistencyProof(257, 700, wanted))
    }
  })

  test('of 70,000 leaves fills a tile of the second level', () => {
    const many = Array.from({ length: 70_000 }, (_, at) => leafHash(Buffer.from(String(at))))
    let edge = emptyEdge
    const filled: string[] = []
    for (let at = 0; at < many.length; at += 9_999) {
      const grown = grow(edge, many.slice(at, at + 9_999))
      edge = grown.edge
      filled.push(...grown.filled.map(({ level, index }) => `${level} ${index}`))
    }
    expect(filled).toHaveLength(274)
    expect(filled).toContain('1 0')
    expect(hex(rootOfEdge(edge))).toBe(hex(rootOfLeaves(many)))
  })
})

describe('a tile', () => {
  test('has the path that C2SP gives it', () => {
    expect(tilePath({ level: 0, index: 1_234_067 })).toBe('tile/0/x001/x234/067')
    expect(tilePath({ level: 1, index: 5 }, 3)).toBe('tile/1/005.p/3')
    expect(bundlePath(1_000)).toBe('tile/entries/x001/000')
    expect(bundlePath(0, 17)).toBe('tile/entries/000.p/17')
  })

  test('has as many hashes as the tree has subtrees for it', () => {
    expect([0, 1, 255, 256, 257, 70_000].map((size) => tileWidthIn({ level: 0, index: 0 }, size))).toEqual([
      0, 1, 255, 256, 256, 256,
    ])
    expect(tileWidthIn({ level: 1, index: 0 }, 70_000)).toBe(256)
    expect(tileWidthIn({ level: 1, index: 1 }, 70_000)).toBe(17)
    expect(tileWidthIn({ level: 0, index: 273 }, 70_000)).toBe(112)
  })

  test('is named once by what a proof reads', () => {
    expect(tilesReadBy((hashAt) => inclusionProof(69_999, 70_000, hashAt))).toHaveLength(3)
  })

  test('that is too short computes nothing', () => {
    expect(() => hashesOfTiles(() => new Uint8Array(32))(0, 1)).toThrow('too short')
  })
})

describe('a bundle of entries', () => {
  test('is read back whole, and not where it ends early', () => {
    const entries = ['', 'a', 'b'.repeat(300)].map((text) => new Uint8Array(Buffer.from(text)))
    const bytes = writeBundle(entries)
    expect(readBundle(bytes)?.map(hex)).toEqual(entries.map(hex))
    expect(readBundle(bytes.subarray(0, -1))).toBeUndefined()
    expect(readBundle(bytes.subarray(0, 1))).toBeUndefined()
    expect(() => writeBundle([new Uint8Array(65_536)])).toThrow('65,535')
  })
})
