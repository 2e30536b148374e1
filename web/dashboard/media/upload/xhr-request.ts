import { describeProblem, parseErrorResponse } from '../../api/api-error.ts'
import { callerHeaders } from '../../api/call-api.ts'
import type { SendUploadRequest, UploadResponse } from './tus-upload.ts'

/**
 * A connection on which nothing arrives and nothing is sent for so long is lost: the server takes the uploads of all
 * people in turn.
 */
const silenceMs = 300_000

/** Sends a request with XMLHttpRequest, because `fetch` does not tell how much of a body was sent. */
export const sendByXhr: SendUploadRequest = ({ method, url, headers, body, onProgress, signal }) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const request = new XMLHttpRequest()
    const onAbort = () => {
      request.abort()
      reject(signal.reason)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const watch = () => {
      clearTimeout(timer)
      timer = setTimeout(() => request.abort(), silenceMs)
    }
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(readResponse(request))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    request.addEventListener('loadend', settle)
    request.upload.addEventListener('progress', ({ loaded }) => {
      watch()
      onProgress?.(loaded)
    })
    request.open(method, url)
    for (const [name, value] of Object.entries({ ...callerHeaders(), ...headers }))
      request.setRequestHeader(name, value)
    watch()
    request.send(body ?? null)
  })

function readResponse(request: XMLHttpRequest): UploadResponse {
  const { status } = request
  return {
    status,
    header: name => request.getResponseHeader(name),
    message: status === 0 ? 'The server cannot be reached.' : readMessage(request)
  }
}

function readMessage({ status, responseText }: XMLHttpRequest): string {
  if (status < 400) return ''
  const { message, fieldErrors } = parseErrorResponse(status, parseJson(responseText), null)
  const [problem] = fieldErrors
  return problem === undefined ? message : describeProblem(labels[problem.field] ?? problem.field, problem)
}

/** The fields of a request as the operator knows them. */
const labels: Readonly<Record<string, string>> = {
  file: 'The file',
  path: 'The path',
  'Upload-Length': 'The file',
  'Upload-Offset': 'The position'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
