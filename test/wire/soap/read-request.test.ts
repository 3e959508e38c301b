import { describe, expect, test } from 'bun:test'
import { readXmlaRequest, SoapViolation } from '../../../src/wire/soap/read-request.ts'

const bounds = { depthMax: 20, elementsMax: 200 }
const read = (header: string, body: string) =>
  readXmlaRequest(
    `<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Header>${header}</SOAP-ENV:Header><SOAP-ENV:Body>${body}</SOAP-ENV:Body></SOAP-ENV:Envelope>`,
    bounds,
  )
const execute = (command: string) => `<Execute xmlns="u"><Command>${command}</Command></Execute>`

describe('the reader of XMLA requests', () => {
  test('reads what is discovered, with one or more values of a restriction', () => {
    const { session, call } = read(
      '<BeginSession soap:mustUnderstand="1" xmlns="u"/><Version Sequence="400"/>',
      `<Discover xmlns="u"><RequestType>MDSCHEMA_CUBES</RequestType>
       <Restrictions><RestrictionList><CUBE_NAME>a &amp; b</CUBE_NAME>
         <PropertyName><Value>Catalog</Value><Value>Format</Value></PropertyName></RestrictionList></Restrictions>
       <Properties><PropertyList><Catalog>lake</Catalog></PropertyList></Properties></Discover>`,
    )
    expect(session).toEqual({ kind: 'begin' })
    if (call.kind !== 'discover') throw new Error('it is no Discover')
    expect(call.requestType).toBe('MDSCHEMA_CUBES')
    expect([...call.restrictions]).toEqual([
      ['CUBE_NAME', ['a & b']],
      ['PROPERTYNAME', ['Catalog', 'Format']],
    ])
    expect([...call.properties]).toEqual([['CATALOG', 'lake']])
  })

  test('reads a statement with its parameters', () => {
    const { session, call } = read(
      '<Session SessionId="s1" mustUnderstand="1"/>',
      `<Execute><Command><Statement>SELECT 1 &lt; 2</Statement></Command><Properties/>
       <Parameters><Parameter><Name>@CubeName</Name><Value xsi:type="xsd:string">c</Value></Parameter></Parameters></Execute>`,
    )
    expect(session).toEqual({ kind: 'use', id: 's1' })
    if (call.kind !== 'execute') throw new Error('it is no Execute')
    expect(call.command).toEqual({ kind: 'statement', text: 'SELECT 1 < 2' })
    expect([...call.parameters]).toEqual([['CubeName', 'c']])
  })

  const noTarget = { sessionId: undefined, spid: undefined, connectionId: undefined }
  test.each([
    ['<Statement/>', { kind: 'statement', text: '' }],
    ['<Cancel><SessionID>s</SessionID></Cancel>', { kind: 'cancel', of: { ...noTarget, sessionId: 's' } }],
    ['<Cancel><SPID>7</SPID></Cancel>', { kind: 'cancel', of: { ...noTarget, spid: 7 } }],
    [
      '<Cancel><ConnectionID>8</ConnectionID></Cancel>',
      { kind: 'cancel', of: { ...noTarget, connectionId: 8 } },
    ],
    ['<Cancel/>', { kind: 'cancel', of: noTarget }],
    ['<Alter/>', { kind: 'other', name: 'Alter' }],
  ])('reads the command %s', (command, expected) => {
    const { call } = read('', execute(command))
    expect(call.kind === 'execute' && call.command).toEqual(expected as never)
  })

  test.each([
    ['another root', () => readXmlaRequest('<a/>', bounds)],
    ['no method', () => read('', '')],
    ['another method', () => read('', '<Other/>')],
    ['two methods', () => read('', execute('') + execute(''))],
    ['two sessions', () => read('<BeginSession/><Session SessionId="a"/>', execute(''))],
    ['two commands', () => read('', execute('<Statement/><Statement/>'))],
  ])('refuses %s', (_, reading) => {
    expect(reading).toThrow(SoapViolation)
  })

  test('refuses an unknown header only where it must be understood', () => {
    expect(() => read('<Foo mustUnderstand="1"/>', execute(''))).toThrow('not understood')
    expect(read('<Foo/>', execute('')).session).toEqual({ kind: 'none' })
  })
})
