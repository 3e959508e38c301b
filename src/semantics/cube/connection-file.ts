/** Writes the connection file of Office, with which Excel opens a cube by a double-click. It holds no secret. */

import { escapeXml } from '../../wire/soap/xml.ts'

interface ConnectionFile {
  /** Of the XMLA listener. */
  readonly server: URL
  readonly catalog: string
  /** Undefined: Excel asks which. */
  readonly cube: string | undefined
}

/** The file's text. */
export function writeConnectionFile({ server, catalog, cube }: ConnectionFile): string {
  const source = new URL(`/xmla/${encodeURIComponent(catalog)}`, server).href
  const connection = [
    'Provider=MSOLAP.8',
    'Persist Security Info=True',
    `Data Source=${quoted(source)}`,
    `Initial Catalog=${quoted(catalog)}`,
    'MDX Compatibility=1',
    'Safety Options=2',
    'MDX Missing Member Mode=Error',
    'Update Isolation Level=2',
  ].join(';')
  const name = cube === undefined ? catalog : `${catalog} ${cube}`
  const meta = (key: string, value: string) => `<meta name="${key}" content="${escapeXml(value)}">`
  const command =
    cube === undefined
      ? ''
      : `<odc:CommandType>Cube</odc:CommandType><odc:CommandText>${escapeXml(cube)}</odc:CommandText>`
  return `<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns="http://www.w3.org/TR/REC-html40">
<head>
<meta http-equiv="Content-Type" content="text/x-ms-odc; charset=utf-8">
${meta('ProgId', 'ODC.Cube')}
${meta('SourceType', 'OLEDB')}
${meta('Catalog', catalog)}
${cube === undefined ? '' : meta('Table', cube)}
<title>${escapeXml(name)}</title>
<xml id="docprops"><o:DocumentProperties xmlns:o="urn:schemas-microsoft-com:office:office" xmlns="http://www.w3.org/TR/REC-html40"><o:Name>${escapeXml(name)}</o:Name></o:DocumentProperties></xml>
<xml id="msodc"><odc:OfficeDataConnection xmlns:odc="urn:schemas-microsoft-com:office:odc" xmlns="http://www.w3.org/TR/REC-html40"><odc:Connection odc:Type="OLEDB"><odc:ConnectionString>${escapeXml(connection)}</odc:ConnectionString>${command}</odc:Connection></odc:OfficeDataConnection></xml>
</head>
</html>
`
}

/** A value of a connection string. */
function quoted(text: string): string {
  return /[;="']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
