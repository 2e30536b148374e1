import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface PlainAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As it came, compressed or not. */
  readonly body: Buffer
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })

/** Sends a request with these headers and no others, unlike `fetch`. `signal` cuts the connection. */
export function askPlainly(
  url: string,
  { method = 'GET', headers = {}, signal }: PlainOptions = {}
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent, ...(signal ? { signal } : {}) }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) })
      )
    })
    asked.on('error', reject)
    asked.end()
  })
}

export interface PlainOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}
