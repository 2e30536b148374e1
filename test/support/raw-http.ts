import net from 'node:net'

/** The response on a separate connection; status 0 if the server closed it without one. */
export interface RawResponse {
  readonly status: number
  readonly head: string
  readonly body: string
  readonly tookMs: number
}

export interface RawOptions {
  /** The deadline for a response or the end of the connection; then it throws. */
  readonly deadlineMs?: number
  /** Appends another `x` every 300 ms while the connection is open. */
  readonly drips?: boolean
}

/** Sends raw bytes, and waits for a complete response or the end of the connection. */
export async function sendRaw(
  baseUrl: string,
  bytes: string | Uint8Array,
  { deadlineMs = 5_000, drips = false }: RawOptions = {}
): Promise<RawResponse> {
  const { hostname, port } = new URL(baseUrl)
  const startedAt = Date.now()
  const socket = net.connect(Number(port), hostname)
  const timers: NodeJS.Timeout[] = []
  if (drips) timers.push(setInterval(() => socket.write('x'), 300))
  try {
    return await new Promise<RawResponse>((resolve, reject) => {
      let text = ''
      const settle = () => resolve({ ...parse(text), tookMs: Date.now() - startedAt })
      socket.setEncoding('latin1')
      socket.on('data', chunk => {
        text += String(chunk)
        if (isWhole(text)) settle()
      })
      socket.on('error', settle)
      socket.on('close', settle)
      const giveUp = () => reject(new Error(`neither an answer nor an end within ${deadlineMs} ms`))
      timers.push(setTimeout(giveUp, deadlineMs))
      if (typeof bytes === 'string') socket.write(bytes, 'latin1')
      else socket.write(bytes)
    })
  } finally {
    for (const timer of timers) clearTimeout(timer)
    socket.destroy()
  }
}

function parse(text: string): Omit<RawResponse, 'tookMs'> {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: rest.join('\r\n\r\n') }
}

function isWhole(text: string): boolean {
  const { head, body } = parse(text)
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  return length !== undefined && body.length >= Number(length)
}
