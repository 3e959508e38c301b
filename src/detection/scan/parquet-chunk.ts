/**
 * Reads the first values of one column chunk as text. It walks the pages itself instead of through the library,
 * because a hostile header must be checked before anything is allocated. A sample needs neither nulls nor nesting, so
 * levels are only counted.
 */

import type { ColumnMetaData } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { checkThrift } from '../../storage/thrift.ts'
import { decompressPage } from './parquet-codec.ts'
import type { Leaf } from './parquet-footer.ts'
import {
  countPresent,
  type PageValues,
  readPageValues,
  type ValueReader,
  valueReader,
} from './parquet-values.ts'

interface ChunkBudget {
  readonly valuesMax: number
  /** Bytes to read. One page is read even if it is larger. */
  readonly bytesMax: number
}

const headerBytes = 64 * 1024
/** Values, nulls included, that one page may claim. */
const pageValuesMax = 10_000_000

type PageHeader = ReturnType<typeof parquetHeader>

/**
 * Reads values from the start of a chunk until a bound is reached.
 * @returns non-null values, numbers in decimal
 * @throws ReadFailure where a page is corrupt, too large or of an unsupported encoding
 */
export async function readChunk(
  file: StoredFile,
  chunk: ColumnMetaData,
  leaf: Leaf,
  budget: ChunkBudget,
): Promise<readonly string[]> {
  const { start, end } = chunkRange(chunk, file.size)
  let window = await file.read(start, Math.min(end, start + Math.max(budget.bytesMax, headerBytes)))
  const more = async (bytes: number) => {
    const from = start + window.length
    const rest = await file.read(from, Math.min(end, Math.max(from, start + bytes)))
    window = Buffer.concat([window, rest])
  }
  const values: string[] = []
  let length = 0
  const read = valueReader(leaf)
  let dictionary: PageValues | undefined
  let at = 0
  // Small pages may expand to large values.
  while (values.length < budget.valuesMax && length < limits.detectionChunkTextMax && start + at < end) {
    let page = headerAt(window, at)
    if (page === undefined) {
      if (window.length >= end - start) throw corrupt()
      // The window ends within a header. Values read so far are enough; for a first header the window grows once.
      if (values.length > 0) break
      await more(at + headerBytes)
      page = headerAt(window, at)
      if (page === undefined) throw corrupt()
    }
    const size = pageSize(page.header)
    const pageEnd = page.end + size
    if (start + pageEnd > end) throw corrupt()
    if (pageEnd > window.length) {
      if (values.length > 0) break
      await more(pageEnd)
    }
    const body = window.subarray(page.end, pageEnd)
    if (page.header.type === 'DICTIONARY_PAGE') dictionary = readDictionary(body, page.header, chunk, read)
    else if (page.header.type === 'DATA_PAGE' || page.header.type === 'DATA_PAGE_V2') {
      const wanted = budget.valuesMax - values.length
      for (const value of readData(body, page.header, chunk, leaf, dictionary, read, wanted)) {
        values.push(value)
        length += value.length
      }
    }
    at = pageEnd
  }
  return values
}

function chunkRange(chunk: ColumnMetaData, fileSize: number): { start: number; end: number } {
  const first = Number(chunk.data_page_offset)
  const dictionary = Number(chunk.dictionary_page_offset ?? 0)
  const start = dictionary > 0 && dictionary < first ? dictionary : first
  const end = start + Number(chunk.total_compressed_size)
  if (
    !Number.isSafeInteger(start) ||
    !Number.isSafeInteger(end) ||
    start < 4 ||
    end < start ||
    end > fileSize
  )
    throw corrupt()
  return { start, end }
}

/** Reads the page header at an offset of the window; undefined when the window ends within it. */
function headerAt(window: Uint8Array, at: number): { header: PageHeader; end: number } | undefined {
  const reader = { view: new DataView(window.buffer, window.byteOffset, window.length), offset: at }
  try {
    checkThrift(window, at)
    const header = parquetHeader(reader)
    return { header, end: reader.offset }
  } catch {
    return undefined
  }
}

function pageSize(header: PageHeader): number {
  const { compressed_page_size: size, uncompressed_page_size: plain } = header
  if (!Number.isInteger(size) || !Number.isInteger(plain) || size < 0 || plain < 0) throw corrupt()
  if (Math.max(size, plain) > limits.detectionPageBytesMax)
    throw new ReadFailure(`a page of a data file has more than ${limits.detectionPageBytesMax} bytes`)
  return size
}

function claimedCount(count: unknown): number {
  if (!Number.isInteger(count) || (count as number) < 0) throw corrupt()
  if ((count as number) > pageValuesMax)
    throw new ReadFailure(`a page of a data file claims more than ${pageValuesMax} values`)
  return count as number
}

function readDictionary(
  body: Uint8Array,
  header: PageHeader,
  chunk: ColumnMetaData,
  read: ValueReader,
): PageValues {
  const count = claimedCount(header.dictionary_page_header?.num_values)
  const plain = decompressPage(body, header.uncompressed_page_size, chunk.codec)
  return guarded(() => readPageValues('PLAIN', plain, count, count, undefined, read))
}

function readData(
  body: Uint8Array,
  header: PageHeader,
  chunk: ColumnMetaData,
  leaf: Leaf,
  dictionary: PageValues | undefined,
  read: ValueReader,
  wanted: number,
): PageValues {
  const v1 = header.data_page_header
  if (v1 !== undefined) {
    const count = claimedCount(v1.num_values)
    const plain = decompressPage(body, header.uncompressed_page_size, chunk.codec)
    return guarded(() => {
      if (leaf.definitionLevelMax > 0 && v1.definition_level_encoding !== 'RLE')
        throw new ReadFailure('a data file encodes its levels in a way that is not supported')
      const view = new DataView(plain.buffer, plain.byteOffset, plain.length)
      let at = 0
      if (leaf.repetitionLevelMax > 0) at += 4 + view.getUint32(at, true)
      let present = count
      if (leaf.definitionLevelMax > 0) {
        const length = view.getUint32(at, true)
        at += 4
        present = countPresent(plain.subarray(at, at + length), leaf.definitionLevelMax, count)
        at += length
      }
      return readPageValues(v1.encoding, plain.subarray(at), present, wanted, dictionary, read)
    })
  }
  const v2 = header.data_page_header_v2
  if (v2 === undefined) throw corrupt()
  const count = claimedCount(v2.num_values)
  const levels = claimedCount(v2.definition_levels_byte_length)
  const repetitions = claimedCount(v2.repetition_levels_byte_length)
  const valuesAt = repetitions + levels
  if (valuesAt > body.length || valuesAt > header.uncompressed_page_size) throw corrupt()
  const packed = body.subarray(valuesAt)
  const plain =
    v2.is_compressed === false
      ? packed
      : decompressPage(packed, header.uncompressed_page_size - valuesAt, chunk.codec)
  return guarded(() => {
    const present =
      leaf.definitionLevelMax > 0
        ? countPresent(body.subarray(repetitions, valuesAt), leaf.definitionLevelMax, count)
        : count
    return readPageValues(v2.encoding, plain, present, wanted, dictionary, read)
  })
}

/** The codecs read past the end of a corrupt page, which shows as a RangeError. */
function guarded<T>(read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof ReadFailure) throw thrown
    throw corrupt()
  }
}

function corrupt(): ReadFailure {
  return new ReadFailure('a Parquet file cannot be read: it is corrupt or truncated')
}
