import { ApiError } from '../../platform/runtime/errors.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, string } from '../core/schemas.ts'

const access = 'view system logs'
const tag = 'Audit log'

const logType = exactObject({
  key: string,
  name: string,
  path: string,
  tail: boolean,
  links: { type: 'object', additionalProperties: string }
})

const list = apiRoute('GET', '/api/admin/logs', access, {
  id: 'listLogs',
  tag,
  summary: 'The log files: none, since all processes log to their standard output',
  response: exactObject({
    globalLogs: arrayOf(logType),
    stationLogs: arrayOf(exactObject({ id: int64, name: string, logs: arrayOf(logType) }))
  }),
  handle: () => jsonReply({ globalLogs: [], stationLogs: [] })
})

const read = apiRoute('GET', '/api/admin/log/:log_key', access, {
  id: 'getLog',
  tag,
  summary: 'A log file: always 404, since there is none',
  response: exactObject({
    contents: string,
    eof: boolean,
    position: { ...int64, type: ['integer', 'null'] }
  }),
  handle: () => {
    throw new ApiError(
      'not-found',
      'There are no log files: all processes log to their standard output, which the program that runs them keeps.'
    )
  }
})

export const systemLogRoutes = [list, read]
