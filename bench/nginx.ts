/** Starts nginx as a plain reverse proxy in front of a catalog, to show what any hop in between costs. */

import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/support/free-port.ts'

export interface Nginx extends AsyncDisposable {
  readonly url: string
}

/** Debian installs it here, and only root has this folder on PATH. */
const debianPath = '/usr/sbin/nginx'
const startMs = 10_000

/** The path of nginx, or undefined if it is not installed. */
export function findNginx(): string | undefined {
  return Bun.which('nginx') ?? (existsSync(debianPath) ? debianPath : undefined)
}

/** One worker process, as the gateway is one. Connections to the upstream stay open, and nothing is logged. */
function configuration(folder: string, port: number, upstream: URL): string {
  return `daemon off; pid ${folder}/pid; error_log stderr crit; worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off; server_tokens off; client_max_body_size 16m;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  upstream catalog { server ${upstream.host}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://catalog; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`
}

/**
 * Starts nginx in front of `upstream`, a plain http address.
 * @throws Error when it does not start
 */
export async function startNginx(path: string, upstream: URL): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-nginx-'))
  const port = freePort()
  const file = join(folder, 'nginx.conf')
  await writeFile(file, configuration(folder, port, upstream))
  const child = Bun.spawn([path, '-c', file, '-p', folder], { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill()
    await child.exited
    await rm(folder, { recursive: true, force: true })
  }
  const endMs = performance.now() + startMs
  while (!(await answers(url))) {
    if (child.exitCode === null && performance.now() < endMs) continue
    await stop()
    throw new Error('nginx did not start')
  }
  return { url, [Symbol.asyncDispose]: stop }
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).bytes()
    return true
  } catch {
    await Bun.sleep(20)
    return false
  }
}
