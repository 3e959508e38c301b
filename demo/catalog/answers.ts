/** The development catalog's responses: JSON, the Iceberg ErrorModel, and a connection that is closed without one. */

import { Fault } from '../../src/base/fault.ts'
import { errorModel } from '../../src/wire/iceberg/error-model.ts'
import { Refusal } from './table-store.ts'

export function jsonResponse(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

export function errorModelResponse(code: number, type: string, message: string): Response {
  return jsonResponse(errorModel(code, type, message), code)
}

/** The codecs are the product's, so they throw the product's faults. */
const faultAnswers: Readonly<Record<string, readonly [number, string]>> = {
  bad_request: [400, 'BadRequestException'],
  unprocessable: [422, 'UnprocessableEntityException'],
  conflict: [409, 'CommitFailedException'],
  policy_engine_unavailable: [400, 'BadRequestException'],
}

/** Makes the response to a request that threw. Errors other than Refusal and Fault are printed too. */
export function refusal(thrown: unknown): Response {
  if (thrown instanceof Refusal) return errorModelResponse(thrown.status, thrown.type, thrown.message)
  if (thrown instanceof Fault) {
    const [status, type] = faultAnswers[thrown.kind] ?? [500, 'ServiceFailureException']
    return errorModelResponse(status, thrown.type ?? type, thrown.publicMessage)
  }
  console.error(thrown)
  return errorModelResponse(500, 'ServiceFailureException', 'Internal error.')
}

/** A response whose stream fails at once, so that Bun closes the connection without sending a byte. */
export function dropped(): Response {
  return new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(undefined)
      },
    }),
  )
}
