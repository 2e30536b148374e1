import { ApiError } from '../../platform/runtime/errors.ts'
import { formatContentDisposition } from '../core/csv.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, boolean, exactObject, schemaRef, string } from '../core/schemas.ts'
import { renderStationScript } from '../playout/liquidsoap.ts'

/*
 * The script of a station under AzuraCast's paths. It has no sections for code of operators: whoever edits a copy of
 * the script on the machine of Liquidsoap needs no such section, and a station manager could run any program there.
 */

const path = '/api/station/:station_id/liquidsoap-config'
const tag = 'Broadcasting'
const access = 'manage station broadcasting'

const refusal = 'Custom Liquidsoap code is not supported: edit a copy of the script where Liquidsoap runs.'

const read = apiRoute('GET', path, access, {
  id: 'getLiquidsoapConfig',
  tag,
  summary: 'The Liquidsoap script of the station, without secrets; it has no editable sections',
  response: exactObject({
    config: arrayOf(exactObject({ is_field: boolean, markup: string })),
    sections: arrayOf(string),
    contents: { type: 'object' }
  }),
  async handle(request, services) {
    const markup = await renderStationScript(services, getRequestStation(request).id)
    return jsonReply({ config: [{ is_field: false, markup }], sections: [], contents: {} })
  }
})

const write = apiRoute('PUT', path, access, {
  id: 'setLiquidsoapConfig',
  tag,
  summary: 'Refused (501) with code in a section: the script has no editable sections',
  body: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  response: schemaRef('ActionResult'),
  errors: [501],
  handle(request) {
    if (hasCode(request)) throw new ApiError('not-implemented', refusal)
    return actionReply('Changes saved successfully.')
  }
})

/** Whether a body has a section that is not empty. */
function hasCode({ body }: ApiRequest): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    Object.values(body).some(code => code !== null && code !== '')
  )
}

const exportScript = apiRoute('GET', `${path}/export`, access, {
  id: 'exportLiquidsoapConfig',
  tag,
  summary: 'The Liquidsoap script of the station as a file, without secrets',
  response: { type: 'string', format: 'binary' },
  contentTypes: ['application/octet-stream'],
  async handle(request, services) {
    const { id, shortName } = getRequestStation(request)
    return {
      body: await renderStationScript(services, id),
      headers: {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': formatContentDisposition(`liquidsoap_${shortName}.liq`)
      }
    }
  }
})

export const liquidsoapConfigRoutes = [read, write, exportScript]
