/** What a scan reads of a snapshot, and how it fails. demo/lake/iceberg-writer.ts writes the tables. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parquetMetadata } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { avroBytes } from '../../../demo/lake/avro-file.ts'
import { type FileOptions, tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { parquetBytes } from '../../../demo/lake/parquet-file.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import type { Territory } from '../../../src/core/territory.ts'
import { type ScanResult, scanSnapshot } from '../../../src/detection/scan/scan-snapshot.ts'
import { limits } from '../../../src/limits.ts'
import { ReadFailure } from '../../../src/storage/read-failure.ts'
import { forgeTable, type StolenLayer } from '../../support/forged-table.ts'
import { roundsOf } from '../../support/long-form.ts'

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long', required: true },
  { id: 2, name: 'email', type: 'string' },
  { id: 3, name: 'note', type: 'string' },
]
const emails = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    id: from + index,
    email: `person${from + index}@example.com`,
    note: index % 3 === 0 ? null : 'nothing',
  }))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'covenant-scan-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let tables = 0
const newTable = (options: Partial<Parameters<typeof tableInFolder>[2]> = {}) =>
  tableInFolder(folder, `t${++tables}`, { fields, ...options })
const scan = (metadataLocation: string, roots: readonly string[] = [folder]) =>
  scanSnapshot({ metadataLocation, access: { roots, s3: undefined } })
const found = ({ findings }: ScanResult) =>
  findings.map(({ finding }) => `${finding.column} ${finding.class} ${finding.shape}`)
const failure = (work: Promise<unknown>): Promise<ReadFailure> =>
  work.then(
    () => {
      throw new Error('the scan did not fail')
    },
    (thrown: unknown) => {
      expect(thrown).toBeInstanceOf(ReadFailure)
      return thrown as ReadFailure
    },
  )

describe('a scan', () => {
  test.each([1, 2, 3] as const)('reads a table of format version %d', async (formatVersion) => {
    const table = newTable({ formatVersion })
    const { metadataLocation, snapshotId } = await table.append([{ rows: emails(20) }])
    const result = await scan(metadataLocation)
    expect(found(result)).toEqual(['email email name_and_value'])
    expect(result.findings[0]).toMatchObject({
      fieldId: 2n,
      columnName: 'email',
      finding: { matched: 20, sampled: 20 },
    })
    expect(result.report).toMatchObject({
      snapshotIds: [String(snapshotId)],
      filesAdded: 1,
      filesScanned: 1,
      problems: [],
    })
    expect(result.reason).toBe('')
  })

  test.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD'] as const)(
    'reads pages compressed by %s',
    async (codec) => {
      const { metadataLocation } = await newTable().append([{ rows: emails(500), codec }])
      expect(found(await scan(metadataLocation))).toEqual(['email email name_and_value'])
    },
  )

  test('reads only the files that the snapshot added', async () => {
    const table = newTable()
    await table.append([{ rows: emails(10) }])
    const second = await table.append([
      { rows: [{ id: 1, email: 'none', note: 'none' }] },
      { rows: [{ id: 2, email: 'none', note: 'none' }] },
    ])
    const result = await scan(second.metadataLocation)
    expect(result.report).toMatchObject({
      filesAdded: 2,
      filesScanned: 2,
      snapshotIds: [String(second.snapshotId)],
    })
    expect(found(result)).toEqual(['email email name'])
  })

  test('looks at no data where the metadata file added no snapshot, but still at the names', async () => {
    const table = newTable()
    await table.append([{ rows: emails(10) }])
    const result = await scan(await table.setProperties({ owner: 'sales' }))
    expect(result.report).toMatchObject({ snapshotIds: [], filesAdded: 0, bytesRead: expect.any(Number) })
    expect(found(result)).toEqual(['email email name'])
  })

  test('does not take delete files for data', async () => {
    const table = newTable()
    const { files } = await table.append([{ rows: emails(10) }])
    const { metadataLocation } = await table.deletePositions(files[0] ?? '', [1, 2])
    expect((await scan(metadataLocation)).report).toMatchObject({ filesAdded: 0, filesFailed: 0 })
  })

  test('finds columns by field id after a rename, and by name where the file has no ids', async () => {
    const written = newTable({ fields: [{ id: 7, name: 'contact', type: 'string' }] })
    const old = parquetBytes([{ id: 7, name: 'email', type: 'string' }], { rows: [{ email: 'a@b.org' }] })
    const renamed = await written.append([{ rows: [{}], bytes: old }])
    expect((await scan(renamed.metadataLocation)).findings[0]).toMatchObject({
      columnName: 'contact',
      fieldId: 7n,
    })
    const bare = await newTable().append([{ rows: emails(5), withoutFieldIds: true }])
    expect((await scan(bare.metadataLocation)).findings[0]).toMatchObject({
      columnName: 'email',
      fieldId: 2n,
    })
  })

  test('reads nested fields and lists under their dotted names', async () => {
    const table = newTable({
      fields: [
        {
          id: 1,
          name: 'person',
          type: {
            struct: [
              { id: 2, name: 'email', type: 'string' },
              { id: 3, name: 'age', type: 'int' },
            ],
          },
        },
        { id: 4, name: 'contacts', type: { list: 'string', elementId: 5 } },
      ],
    })
    const { metadataLocation } = await table.append([
      {
        rows: [
          { person: { email: 'a@b.org', age: 4 }, contacts: ['c@d.org', 'e@f.org'] },
          { person: null, contacts: [] },
          { person: { email: null, age: 5 }, contacts: null },
          { person: { email: 'g@h.org', age: null }, contacts: ['i@j.org', null] },
        ],
      },
    ])
    const result = await scan(metadataLocation)
    expect(found(result)).toEqual([
      'person.email email name_and_value',
      'contacts.element email name_and_value',
    ])
    expect(result.findings.map(({ finding }) => [finding.matched, finding.sampled])).toEqual([
      [2, 2],
      [3, 3],
    ])
  })

  test('reads strings inside JSON, and takes no key that may be data into a name', async () => {
    const { metadataLocation } = await newTable().append([
      {
        rows: Array.from({ length: 8 }, (_, id) => ({
          id,
          note: JSON.stringify({ user: { email: `p${id}@example.com` }, 'q@example.org': [1] }),
        })),
      },
    ])
    const result = await scan(metadataLocation)
    expect(found(result)).toEqual([
      'email email name',
      'note.user.email email name_and_value',
      'note.* email value',
    ])
    expect(JSON.stringify(result.findings.map(({ finding }) => finding.column))).not.toContain('example.org')
  })

  test('judges a column of booleans by nothing, another without readable values by its name', async () => {
    const { metadataLocation } = await newTable({
      fields: [
        { id: 1, name: 'email', type: 'boolean' },
        { id: 2, name: 'ssn', type: 'double' },
      ],
    }).append([{ rows: [{ email: true, ssn: 1.5 }] }])
    expect(found(await scan(metadataLocation))).toEqual(['ssn us_ssn name'])
  })

  test('samples row groups all over a file within its bounds', async () => {
    const rows = [...emails(4_000).map((row) => ({ ...row, email: 'none' })), ...emails(1_000)]
    const { metadataLocation } = await newTable().append([{ rows, rowGroupSize: 500 }])
    const result = await scan(metadataLocation)
    expect(result.findings[0]?.finding).toMatchObject({ matched: 500, sampled: 2_000 })
  })

  test('finds columns of which a tenth is dirty, in whole cells and inside text', async () => {
    const rows = emails(5_000).map(({ id, email }) => ({
      id,
      email: id % 10 === 7 ? email : `order ${id}`,
      note: id % 10 === 3 ? `called back, write to ${email} instead` : 'nothing to say',
    }))
    // Names that say nothing.
    const fields: readonly Field[] = [
      { id: 1, name: 'id', type: 'long' },
      { id: 2, name: 'c2', type: 'string' },
      { id: 3, name: 'c3', type: 'string' },
    ]
    const silent = rows.map(({ id, email, note }) => ({ id, c2: email, c3: note }))
    const table = newTable({ fields })
    const { metadataLocation } = await table.append([{ rows: silent, rowGroupSize: 500 }])
    const { findings } = await scan(metadataLocation)
    expect(findings.map(({ finding }) => [finding.column, finding.class, finding.confidence])).toEqual([
      ['c2', 'email', 0.6],
      ['c3', 'email', 0.6],
    ])
    expect(findings.map(({ finding }) => finding.matched / finding.sampled)).toEqual([0.1, 0.1])
  })

  test('names files of formats that it cannot read, and scans the others', async () => {
    const { metadataLocation } = await newTable().append([
      { rows: emails(3) },
      { rows: [], format: 'ORC', bytes: Buffer.from('ORC') },
      { rows: [], format: 'VORTEX', bytes: Buffer.from('VTXF') },
    ])
    const result = await scan(metadataLocation)
    expect(result.report).toMatchObject({ filesScanned: 1, filesUnsupported: 2, filesFailed: 0 })
    expect(result.report.problems.map(({ reason }) => reason)).toEqual([
      'ORC data files are not supported',
      'VORTEX data files are not supported',
    ])
    expect(found(result)).toEqual(['email email name_and_value'])
  })

  const avroFields = (ids: boolean) => [
    { name: 'id', type: 'long', ...(ids && { 'field-id': 1 }) },
    { name: ids ? 'renamed' : 'email', type: ['null', 'string'], ...(ids && { 'field-id': 2 }) },
    {
      name: 'note',
      type: [
        'null',
        { type: 'record', name: 'r', fields: [{ name: 'ssn', type: { type: 'array', items: 'string' } }] },
      ],
    },
    { name: 'born', type: { type: 'int', logicalType: 'date' } },
  ]
  const avroRows = (count: number, ids: boolean) =>
    emails(count).map(({ id, email }) => ({
      id: BigInt(id),
      [ids ? 'renamed' : 'email']: email,
      note: { ssn: [`536-22-${1000 + id}`] },
      born: 100,
    }))

  test.each([true, false])('reads Avro data files, by field ids %p', async (ids) => {
    const bytes = Buffer.from(
      avroBytes({ type: 'record', name: 'row', fields: avroFields(ids) }, avroRows(30, ids)),
    )
    const { metadataLocation } = await newTable().append([{ rows: [], format: 'AVRO', bytes }])
    const result = await scan(metadataLocation)
    expect(found(result)).toEqual(['email email name_and_value', 'note.ssn.element us_ssn name_and_value'])
    expect(result.report).toMatchObject({ filesScanned: 1, filesUnsupported: 0, filesFailed: 0 })
    expect(result.findings[0]?.fieldId).toBe(2n)
  })

  test('reads blocks from all over a large Avro file', async () => {
    const schema = { type: 'record', name: 'row', fields: [{ name: 'note', type: 'string', 'field-id': 3 }] }
    const word = (index: number) => Bun.hash(String(index)).toString(36)
    const block = (at: number) =>
      Buffer.from(
        avroBytes(
          schema,
          Array.from({ length: 2_000 }, (_, n) => ({
            note: at < 60 ? word(at * 2_000 + n) : `${word(at * 2_000 + n)}@example.com`,
          })),
        ),
      )
    const blocks = Array.from({ length: 120 }, (_, at) => block(at))
    const end = (bytes: Buffer) => bytes.indexOf(Buffer.alloc(16, 7)) + 16
    const bytes = Buffer.concat(blocks.map((each, at) => (at === 0 ? each : each.subarray(end(each)))))
    const { metadataLocation } = await newTable().append([{ rows: [], format: 'AVRO', bytes }])
    const result = await scan(metadataLocation)
    const { matched = 0, sampled = 0 } =
      result.findings.find(({ columnName }) => columnName === 'note')?.finding ?? {}
    expect([matched > 0, sampled]).toEqual([true, 2_000])
  })

  test('every truncation of an Avro file is a failure with a reason', async () => {
    const whole = Buffer.from(
      avroBytes({ type: 'record', name: 'row', fields: avroFields(true) }, avroRows(5, true)),
    )
    for (let length = 0; length < whole.length; length += 7) {
      const bytes = whole.subarray(0, length)
      const { metadataLocation } = await newTable().append([{ rows: [], format: 'AVRO', bytes }])
      const result = await scan(metadataLocation)
      // The end of the header is a file without rows.
      if (result.reason !== '') expect(result.reason).toContain('a data file cannot be read')
      else expect(result.report.valuesSampled).toBe(0)
    }
  })

  test('a rescan reads the current snapshot, whichever metadata file added it', async () => {
    const table = newTable()
    await table.append([{ rows: emails(10) }])
    const metadataLocation = await table.setProperties({ owner: 'sales' })
    const access = { roots: [folder], s3: undefined }
    const result = await scanSnapshot({ metadataLocation, access, isRescan: true })
    expect(found(result)).toEqual(['email email name_and_value'])
  })

  test('keeps what other files showed where one cannot be read, and fails with the reason', async () => {
    const { metadataLocation } = await newTable().append([
      { rows: emails(3) },
      { rows: [], bytes: Buffer.from('PAR1 and then nothing of use PAR1') },
    ])
    const result = await scan(metadataLocation)
    expect(result.report).toMatchObject({ filesScanned: 1, filesFailed: 1 })
    expect(result.reason).toContain('cannot be read: it is corrupt or truncated')
    expect(found(result)).toEqual(['email email name_and_value'])
  })

  test('says why a file failed behind more unsupported ones than a report names', async () => {
    const unsupported = Array.from({ length: 21 }, () => ({
      rows: [],
      format: 'ORC',
      bytes: Buffer.from('ORC'),
    }))
    const corrupt = { rows: [], bytes: Buffer.from('PAR1 and then nothing of use PAR1') }
    const { metadataLocation } = await newTable().append([...unsupported, corrupt])
    const result = await scan(metadataLocation)
    expect(result.report.problems).toHaveLength(20)
    expect(result.reason).toMatch(/^1 data file\(s\) could not be scanned; first .+: .*corrupt or truncated$/)
  })

  test('keeps what other files showed where storage does not serve one, once no other attempt may do better', async () => {
    const { metadataLocation, files } = await newTable().append([{ rows: emails(3) }, { rows: emails(3) }])
    const path = fileURLToPath(files[1] ?? '')
    rmSync(path)
    // A link to itself is a failure of storage, which may pass.
    symlinkSync(path, path)
    expect((await failure(scan(metadataLocation))).passing).toBe(true)
    const result = await scanSnapshot({
      metadataLocation,
      access: { roots: [folder], s3: undefined },
      isLast: true,
    })
    expect(result.report).toMatchObject({ filesScanned: 1, filesFailed: 1 })
    expect(result.reason).toContain('storage failed (ELOOP)')
    expect(found(result)).toEqual(['email email name_and_value'])
  })

  test('names a file without its folders, which spell out partition values', async () => {
    const table = newTable({ partitionBy: 'email' })
    const { metadataLocation } = await table.append([
      { rows: [], partition: 'secret@example.com', bytes: Buffer.from('nothing') },
    ])
    const result = await scan(metadataLocation)
    expect(result.report.filesFailed).toBe(1)
    expect(JSON.stringify([result.report, result.reason])).not.toContain('secret@example.com')
  })
})

describe('a hostile or broken file', () => {
  const withData = async (bytes: Uint8Array, more: Partial<FileOptions> = {}) => {
    const { metadataLocation } = await newTable().append([{ rows: [], bytes, ...more }])
    return scan(metadataLocation)
  }

  test('every truncation of a Parquet file is a failure with a reason', async () => {
    const whole = parquetBytes(fields, { rows: emails(50) })
    for (const length of [0, 1, 4, 8, 11, 12, 100, whole.length >> 1, whole.length - 9, whole.length - 1]) {
      const result = await withData(whole.slice(0, length))
      expect([length, result.report.filesFailed]).toEqual([length, 1])
      expect(result.reason).not.toBe('')
    }
  })

  test('a corrupt Parquet file neither throws anything else nor hangs', async () => {
    const seed = 11
    console.log(`seed ${seed}`)
    let state = seed
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return (state >>> 8) % below
    }
    const whole = parquetBytes(fields, { rows: emails(200), rowGroupSize: 50 })
    const table = newTable()
    const { metadataLocation, files } = await table.append([{ rows: [], bytes: whole }])
    const path = fileURLToPath(files[0] ?? '')
    for (let round = 0; round < roundsOf(300); round++) {
      const bytes = whole.slice()
      for (let flips = 1 + random(4); flips > 0; flips--) bytes[random(bytes.length)] = random(256)
      writeFileSync(path, bytes)
      const result = await scan(metadataLocation)
      expect(result.report.filesFailed + result.report.filesScanned).toBe(1)
    }
  })

  test('a column whose pages have no header that can be read fails its file', async () => {
    const whole = parquetBytes(fields, { rows: emails(300) })
    const chunk = parquetMetadata(whole.buffer.slice(0) as ArrayBuffer).row_groups[0]?.columns[0]?.meta_data
    const start = Number(chunk?.dictionary_page_offset ?? chunk?.data_page_offset)
    const spoilt = whole.slice().fill(0xff, start, start + Number(chunk?.total_compressed_size))
    const result = await withData(spoilt)
    expect(result.report).toMatchObject({ filesScanned: 0, filesFailed: 1 })
    expect(result.reason).toContain('corrupt or truncated')
  })

  test('a page that claims more than a page may have is refused before anything is allocated', async () => {
    // 40 MB of one letter: a few dozen kilobytes of gzip.
    const bomb = parquetBytes([{ id: 1, name: 'email', type: 'string' }], {
      rows: [{ email: 'x'.repeat(40 * 1024 * 1024) }],
      codec: 'GZIP',
    })
    expect(bomb.length).toBeLessThan(200_000)
    const result = await withData(bomb)
    expect(result.reason).toContain('a page of a data file has more than')
  })

  test('a page that decompresses to more than it claims is refused', async () => {
    const honest = Buffer.from(
      parquetBytes([{ id: 1, name: 'email', type: 'string' }], {
        rows: emails(2_000).map(({ email }) => ({ email })),
        codec: 'GZIP',
        rowGroupSize: 2_000,
      }),
    )
    // The first page header follows the magic: field 1 (type), then field 2, the size without compression.
    const at = honest.indexOf(0x15, 6)
    const lied = Buffer.from(honest)
    lied[at + 1] = 0x80 | (((lied[at + 1] ?? 0) + 2) & 0x7f)
    const result = await withData(lied)
    expect(result.reason).toContain('does not decompress to what its header claims')
  })

  test('a footer that claims to be larger than the file is refused', async () => {
    const whole = Buffer.from(parquetBytes(fields, { rows: emails(5) }))
    whole.writeUInt32LE(0xffff_fff0, whole.length - 8)
    expect((await withData(whole)).reason).toContain('corrupt or truncated')
  })

  const twoGiB = 2 * 1024 ** 3

  /** The same file with row groups that claim two gigabytes of each column. */
  const claimingTwoGiB = (whole: Uint8Array) => {
    const metadata = parquetMetadata(whole)
    for (const group of metadata.row_groups)
      for (const { meta_data } of group.columns)
        if (meta_data !== undefined) meta_data.total_compressed_size = BigInt(twoGiB)
    const writer = new ByteWriter()
    writeMetadata(writer, metadata)
    return {
      data: whole.slice(0, whole.length - metadata.metadata_length - 8),
      footer: Buffer.from(writer.getBytes()),
    }
  }

  test('a row group that claims two gigabytes that are not there is refused', async () => {
    const { data, footer } = claimingTwoGiB(parquetBytes(fields, { rows: emails(300) }))
    const result = await withData(Buffer.concat([data, footer, Buffer.from('PAR1')]))
    expect(result.reason).toContain('corrupt or truncated')
  })

  test('a row group that has two gigabytes is sampled from its start', async () => {
    const rows = emails(12_000).map((row) => ({ ...row, note: 'nothing' }))
    const { data, footer } = claimingTwoGiB(parquetBytes(fields, { rows, rowGroupSize: 12_000 }))
    const { metadataLocation, files } = await newTable().append([{ rows: [], bytes: data }])
    const path = fileURLToPath(files[0] ?? '')
    // Sparse: the hole takes no disk.
    const handle = openSync(path, 'r+')
    const end = Buffer.concat([footer, Buffer.from('PAR1')])
    writeSync(handle, end, 0, end.length, twoGiB + 1024 * 1024)
    closeSync(handle)
    const result = await scan(metadataLocation)
    rmSync(path)
    expect([result.reason, found(result)]).toEqual(['', ['email email name_and_value']])
    expect(result.report.bytesRead).toBeLessThan(70 * 1024 * 1024)
  })

  test.each([
    ['empty', () => new Uint8Array(0)],
    ['no Avro', () => Buffer.from('not avro at all')],
    ['cut short', (whole: Uint8Array) => whole.slice(0, whole.length - 20)],
    ['cut in the header', (whole: Uint8Array) => whole.slice(0, 30)],
  ] as const)('a manifest that is %s fails the scan with a reason', async (_, spoil) => {
    const { metadataLocation, manifest, manifestList } = await newTable().append([{ rows: emails(3) }])
    for (const place of [manifest, manifestList]) {
      const path = fileURLToPath(place)
      const whole = readFileSync(path)
      writeFileSync(path, spoil(whole))
      expect((await failure(scan(metadataLocation))).reason).toContain('manifest')
      writeFileSync(path, whole)
    }
  })

  test('a manifest block that decompresses beyond its bound fails the scan', async () => {
    const { metadataLocation, manifestList } = await newTable().append([{ rows: emails(3) }])
    const bomb = avroBytes({ type: 'record', name: 'r', fields: [{ name: 'a', type: 'bytes' }] }, [
      { a: Buffer.alloc(65 * 1024 * 1024) },
    ])
    expect(bomb.length).toBeLessThan(200_000)
    writeFileSync(fileURLToPath(manifestList), bomb)
    expect((await failure(scan(metadataLocation))).reason).toContain('decompresses to more than')
  })

  test('a snapshot has a bounded number of findings, the surest first, and its report says how many were left out', async () => {
    const names = Array.from({ length: limits.detectionFindingsMax }, (_, index) => ({
      id: index + 10,
      name: `email_${index}`,
      type: 'string' as const,
      required: false,
    }))
    const table = newTable({ fields: [...names, ...fields] })
    const result = await scan((await table.append([{ rows: emails(30) }])).metadataLocation)
    expect(result.findings.length).toBe(limits.detectionFindingsMax)
    expect(result.findings[0]?.finding).toMatchObject({ column: 'email', confidence: 0.92 })
    expect(result.report.findingsLeftOut).toBe(1)
  })

  test('small pages of large values are read until enough text is there', async () => {
    const rows = Array.from({ length: 700 }, (_, id) => ({ id, note: `${'ab'.repeat(30_000)}${id}` }))
    const { metadataLocation } = await newTable().append([{ rows, codec: 'GZIP' }])
    const { report, reason } = await scan(metadataLocation)
    expect(reason).toBe('')
    // All ids, and 32 MiB of notes with what else their last page holds.
    expect(report.valuesSampled).toBeWithin(700 + 559, 700 + 600)
  })

  test('a footer that claims lists of lists beyond its bytes is refused before room is made for them', async () => {
    // Twenty lists in each other, of 50 million items each.
    const claims = [0x19, ...Array.from({ length: 20 }, () => [0xf9, 0x80, 0xe1, 0xeb, 0x17]).flat()]
    const tail = Buffer.alloc(8)
    tail.writeUInt32LE(claims.length)
    tail.write('PAR1', 4)
    const bytes = Buffer.concat([Buffer.from('PAR1'), Buffer.from(claims), tail])
    const { metadataLocation } = await newTable().append([{ rows: [], bytes }])
    const heldBefore = process.memoryUsage().rss
    expect((await scan(metadataLocation)).reason).toContain('corrupt or truncated')
    expect(process.memoryUsage().rss - heldBefore).toBeLessThan(1024 * 1024 * 1024)
  })

  const nothing = { type: 'record', name: 'nothing', fields: [] }
  test.each([
    ['null', 'null', [null]],
    ['an empty record', nothing, [{}]],
    ['an empty error', { ...nothing, type: 'error' }, [{}]],
    ['an empty record by its name', 'nothing', [{}]],
    ['an empty record by its full name', 'spaces.nothing', [{}]],
    [
      'a record of empty records by their name',
      { type: 'record', name: 'b', fields: [{ name: 'c', type: 'nothing' }] },
      [{ c: {} }],
    ],
  ])('an Avro schema whose items are %s, which takes no bytes, is refused', async (what, items, list) => {
    const { metadataLocation, manifestList } = await newTable().append([{ rows: emails(3) }])
    const isNamed = what.includes('name')
    const namespace = what.includes('full') ? { namespace: 'spaces' } : {}
    const schema = {
      type: 'record',
      name: 'r',
      fields: [
        ...(isNamed ? [{ name: 'first', type: { ...nothing, ...namespace } }] : []),
        { name: 'a', type: { type: 'array', items } },
      ],
    }
    writeFileSync(
      fileURLToPath(manifestList),
      avroBytes(schema, [{ ...(isNamed && { first: {} }), a: list }]),
    )
    expect((await failure(scan(metadataLocation))).reason).toContain(
      'a manifest cannot be read: it is corrupt or truncated',
    )
  })

  test.each([
    ['no JSON', 'nothing'],
    ['of a version to come', '{"format-version":4}'],
    ['nested too deep', '['.repeat(5_000)],
    ['without a schema', '{"format-version":2}'],
  ])('a metadata file that is %s fails the scan', async (_, text) => {
    const path = join(folder, `${++tables}.metadata.json`)
    writeFileSync(path, text)
    expect((await failure(scan(path))).reason).toBe(
      'the metadata file cannot be read: it is corrupt or truncated',
    )
  })
})

describe('a path', () => {
  test('is read only below a registered storage root', async () => {
    const { metadataLocation } = await newTable().append([{ rows: emails(3) }])
    expect((await failure(scan(metadataLocation, []))).reason).toContain('registers no storage_roots')
    expect((await failure(scan(metadataLocation, [`${folder}-other`]))).reason).toContain(
      'outside the storage_roots',
    )
    expect((await failure(scan(metadataLocation, ['s3://bucket/x']))).reason).toContain(
      'outside the storage_roots',
    )
    expect((await failure(scan(`file://${folder}/../../etc/passwd`))).reason).toBe('a location is malformed')
    expect((await failure(scan('gs://bucket/v1.metadata.json'))).reason).toContain(
      'scheme gs is not supported',
    )
    expect((await failure(scan(`${folder}/none.metadata.json`))).reason).toBe('a file is not there')
  })

  test('does not lead out of its root by a symbolic link', async () => {
    const { metadataLocation } = await newTable().append([{ rows: emails(3) }])
    const inside = join(folder, 'root')
    mkdirSync(inside)
    symlinkSync(fileURLToPath(metadataLocation), join(inside, 'v1.metadata.json'))
    expect((await failure(scan(join(inside, 'v1.metadata.json'), [inside]))).reason).toContain(
      'outside the storage_roots',
    )
  })

  test('of a data file is held to the same roots', async () => {
    const table = newTable()
    const elsewhere = mkdtempSync(join(tmpdir(), 'covenant-elsewhere-'))
    const { metadataLocation } = await table.append([{ rows: emails(3) }])
    const text = readFileSync(fileURLToPath(metadataLocation), 'utf8')
    const moved = text.replace(/"manifest-list":"[^"]+"/, `"manifest-list":"file://${elsewhere}/list.avro"`)
    writeFileSync(fileURLToPath(metadataLocation), moved)
    expect((await failure(scan(metadataLocation))).reason).toContain('outside the storage_roots')
    rmSync(elsewhere, { recursive: true })
  })

  test('that is a folder is no file', async () => {
    mkdirSync(join(folder, 'folder.metadata.json'))
    expect((await failure(scan(join(folder, 'folder.metadata.json')))).reason).toBe(
      'a location is not a file',
    )
  })
})

describe('a file outside the territory of the table', () => {
  const territory = (mode: Territory['mode'], ...names: readonly string[]): Territory => ({
    mode,
    version: '1',
    prefixes: names.map((name) => `file://${join(folder, name)}/`),
  })
  async function forged(stolen: StolenLayer, given: Territory) {
    const victim = tableInFolder(folder, 'secret', { fields })
    await victim.append([{ rows: emails(5) }])
    const { metadataLocation } = forgeTable(victim, { tables: folder, from: 'secret', to: 'forged' }, stolen)
    return scanSnapshot({ metadataLocation, access: { roots: [folder], s3: undefined }, territory: given })
  }

  test('is not scanned where the territory is enforced, and the report says so', async () => {
    const { findings, report, reason, outside } = await forged('files', territory('enforce', 'forged'))
    expect([findings.filter(({ finding }) => finding.matched > 0), report.filesFailed]).toEqual([[], 1])
    expect(reason).toContain('its file lies outside the folders that belong to it')
    expect(outside?.[0]?.location).toContain('/secret/data/')
  })

  test.each(['manifest-list', 'manifests'] as const)(
    'fails the scan where it is one of the %s',
    async (stolen) => {
      const { reason, passing } = await failure(forged(stolen, territory('enforce', 'forged')))
      expect([reason, passing]).toEqual(['its file lies outside the folders that belong to it', false])
    },
  )

  test('is scanned and listed where the territory is observed', async () => {
    const result = await forged('files', territory('observe', 'forged'))
    expect(found(result)).toEqual(['email email name_and_value'])
    expect(result.outside).toHaveLength(1)
  })
})

describe('what is encrypted is never named as corrupt:', () => {
  const encrypted = 'a manifest is encrypted, and its key is not known'
  const edit = (location: string, change: (text: string) => string) => {
    const path = fileURLToPath(location)
    writeFileSync(path, change(readFileSync(path, 'utf8')))
  }

  test('a snapshot with a key', async () => {
    const { metadataLocation } = await newTable({ formatVersion: 3 }).append([{ rows: emails(3) }])
    edit(metadataLocation, (text) => text.replace('"manifest-list":', '"key-id":"k","manifest-list":'))
    expect((await failure(scan(metadataLocation))).reason).toBe(encrypted)
  })

  test.each(['manifestList', 'manifest'] as const)('the bytes of a %s', async (which) => {
    const appended = await newTable({ formatVersion: 3 }).append([{ rows: emails(3) }])
    const path = fileURLToPath(appended[which])
    const size = readFileSync(path).length
    writeFileSync(path, Buffer.concat([Buffer.from('AGS1'), Buffer.alloc(size - 4, 9)]))
    expect((await failure(scan(appended.metadataLocation))).reason).toBe(encrypted)
  })
})
