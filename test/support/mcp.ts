/** Connects the three clients of MCP to a service: the current one in both eras, and the one before it. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** The current revision, the handshake of 2025 by the current client, and by the earlier one. */
export const eras = ['2026', '2025', 'earlier client'] as const
export type Era = (typeof eras)[number]

export interface ToolResult {
  readonly isError: boolean
  readonly structured: Record<string, unknown> | undefined
  /** The first block of text. */
  readonly text: string
}

export interface McpClient extends AsyncDisposable {
  /** The revision that was agreed on. */
  readonly revision: string | undefined
  readonly tools: () => Promise<readonly ListedTool[]>
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<ToolResult>
}

export interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly annotations?: object | undefined
}

const about = { name: 'covenant-tests', version: '1' }

/** Connects. @param secret of a service session; undefined: sends none */
export async function connectMcp(era: Era, url: URL, secret: string | undefined): Promise<McpClient> {
  const endpoint = new URL('/mcp', url)
  const requestInit = { headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` } }
  const client = era === 'earlier client' ? new EarlierClient(about) : currentClient(era)
  if (client instanceof EarlierClient)
    await client.connect(new EarlierTransport(endpoint, { requestInit }) as never)
  else await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
  return {
    revision:
      client instanceof Client
        ? client.getNegotiatedProtocolVersion()
        : (client.transport as EarlierTransport | undefined)?.protocolVersion,
    tools: async () => (await client.listTools()).tools,
    async call(name, args = {}) {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
      const [block] = content as readonly { readonly text?: string }[]
      return {
        isError: isError === true,
        structured: structuredContent as ToolResult['structured'],
        text: block?.text ?? '',
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function currentClient(era: Era): Client {
  // Without this, the client speaks the revision of 2025.
  return new Client(about, era === '2026' ? { versionNegotiation: { mode: 'auto' } } : {})
}
