import { describe, expect, test } from 'bun:test'
import { errorModel, parseErrorModel } from '../../../src/wire/iceberg/error-model.ts'

const parse = (text: string) => parseErrorModel(new TextEncoder().encode(text))

describe('the Iceberg ErrorModel', () => {
  test('is written as the specification has it', () => {
    expect(JSON.parse(errorModel(409, 'CommitFailedException', 'a "b"\n'))).toEqual({
      error: { message: 'a "b"\n', type: 'CommitFailedException', code: 409 },
    })
  })

  test('is read back', () => {
    expect(parse(errorModel(404, 'NoSuchTableException', 'no'))).toEqual({
      type: 'NoSuchTableException',
      message: 'no',
    })
  })

  test('is read from an OAuth token endpoint too', () => {
    expect(parse('{"error":"invalid_client","error_description":"no"}')).toEqual({
      type: 'invalid_client',
      message: 'no',
    })
  })

  test.each([
    '',
    'Bad gateway',
    '<html>',
    'null',
    '[]',
    '{}',
    '{"error":null}',
    '{"error":{"type":1,"message":{}}}',
  ])('is empty for %j', (text) => expect(parse(text)).toEqual({}))

  test('is empty for bytes that are not UTF-8 and for a body too large', () => {
    expect(parseErrorModel(new Uint8Array([0xff, 0xfe]))).toEqual({})
    expect(parse(`{"error":{"message":"${'x'.repeat(70_000)}"}}`)).toEqual({})
  })
})
