/** Writes the envelopes of XMLA answers: around a result, around none, and faults. Results are written in pieces. */

import { escapeXml } from './xml.ts'

const soapNamespace = 'http://schemas.xmlsoap.org/soap/envelope/'
export const analysisNamespace = 'urn:schemas-microsoft-com:xml-analysis'
/** Namespaces that a result's root declares. */
export const rootNamespaces =
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'

export type XmlaMethod = 'Discover' | 'Execute'

/** What stands before a result's root. @param sessionId of the session that answers, where there is one */
export function envelopeStart(method: XmlaMethod, sessionId: string | undefined): string {
  return `${opening(sessionId)}<${method}Response xmlns="${analysisNamespace}"><return>`
}

/** What stands behind a result's root. */
export function envelopeEnd(method: XmlaMethod): string {
  return `</return></${method}Response></soap:Body></soap:Envelope>`
}

function opening(sessionId: string | undefined): string {
  const header =
    sessionId === undefined
      ? ''
      : `<soap:Header><Session xmlns="${analysisNamespace}" SessionId="${escapeXml(sessionId)}"/></soap:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="${soapNamespace}">${header}<soap:Body>`
}

/** The result of a statement that has none. */
export const emptyRoot = `<root xmlns="${analysisNamespace}:empty"/>`

export interface FaultText {
  /** - `Client`: the message is at fault. - `Server`: it is not. */
  readonly code: 'Client' | 'Server' | 'MustUnderstand'
  readonly message: string
  /** As a HRESULT; clients show it beside the message. */
  readonly number: number
}

/** A fault. Clients take it from a response with status 200. */
export function writeFault({ code, message, number }: FaultText, sessionId?: string): string {
  const text = escapeXml(message)
  const hex = number.toString(16).padStart(8, '0')
  const faultCode = code === 'MustUnderstand' ? 'soap:MustUnderstand' : `XMLAnalysisError.0x${hex}`
  const error = `<Error ErrorCode="${number}" Description="${text}" Source="Covenant" HelpFile=""/>`
  return `${opening(sessionId)}<soap:Fault><faultcode>${faultCode}</faultcode><faultstring>${text}</faultstring><detail>${error}</detail></soap:Fault></soap:Body></soap:Envelope>`
}
