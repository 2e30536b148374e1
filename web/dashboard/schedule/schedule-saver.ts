import { ApiRequestError, toApiRequestError } from '../api/api-error.ts'
import type { StationPath } from '../api/typed-response.ts'
import type { Form } from '../forms/form-controller.ts'
import { chooseAction, confirmAction, showNotice } from '../ui/actions.ts'
import { describeDuration, formatCount, isolateBidi } from '../ui/text.ts'
import { loadScheduleOwners, saveSchedules, type Schedules, schedulesOf } from './edited-schedules.ts'
import { ownerKeyOf, type ScheduleEditor } from './schedule-editor.ts'
import { findSilenceNow } from './silence.ts'
import { requestSimulation, type Simulation, type SimulationBody } from './simulation.ts'

interface SaverOptions {
  /** The path of the station in the API. */
  readonly path: () => StationPath
  /** Reads the stored schedules again. */
  readonly refresh: () => Promise<unknown>
  /** What would play from now on with the edits; null while that is not known. */
  readonly simulation: () => Simulation | null
}

/** Saves and discards the edits of schedules. */
export function openScheduleSaver(
  host: HTMLElement,
  form: Form<Schedules>,
  editor: ScheduleEditor,
  { path, refresh, simulation }: SaverOptions
) {
  async function save(): Promise<string | null> {
    const sent = form.changes
    const stored = await loadScheduleOwners(path(), Object.keys(sent))
    const changed = form.listConflicts(schedulesOf(stored))
    if (changed.length > 0) {
      const response = await askAboutChanged(changed.map(form.labelOf))
      if (response === loadVerb) {
        await refresh()
        form.forget(changed)
        if (changed.includes(ownerKeyOf(editor.selected))) editor.select('')
      }
      if (response !== saveVerb) return null
    }
    const foreseen = simulation()
    // A simulation takes seconds. Saving does not wait for one.
    if (foreseen !== null && !(await confirmSilence(foreseen))) return null
    const { saved, problems } = await saveSchedules(path(), sent)
    await refresh()
    form.forgetSaved(saved)
    if (foreseen === null && saved.some(isPlaylist)) void warnOfSilence(host, path())
    if (problems.length === 0) return `${formatCount(saved.length, 'schedule')} saved.`
    const message = `${saved.length} of ${saved.length + problems.length} schedules were saved.`
    throw new ApiRequestError(message, 400, false, [...problems, { field: '', message }])
  }

  return {
    save: () => form.submit(save),
    async discard(): Promise<void> {
      const text = 'The changes of the schedule that are not saved are lost.'
      if (!(await confirmAction({ title: 'Discard the changes?', text, verb: 'Discard' }))) return
      form.reset()
      editor.select('')
    }
  }
}

const loadVerb = 'Load anew'
const saveVerb = 'Save anyway'

/** Asks whether to overwrite schedules that were changed since the edit began. */
const askAboutChanged = (names: readonly string[]): Promise<string> =>
  chooseAction({
    title: 'Someone changed the schedule meanwhile',
    text: `${names.map(isolateBidi).join(', ')}: the stored periods are no longer those that you have edited. Load them anew, which discards your changes of them, or save yours and overwrite the others.`,
    verbs: [loadVerb, saveVerb]
  })

/** Shorter silences are not asked about. */
const minSilentSeconds = 300
/** Enough to tell how long a silence of now lasts, and quick. */
const simulatedDays = 2

const maxAttempts = 4
const retryMs = 2_000

/** Simulates after the other simulations of this caller; null if that is not possible. */
async function simulateWithRetries(
  stationPath: StationPath,
  body: SimulationBody
): Promise<Simulation | null> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    try {
      return await requestSimulation(stationPath, body)
    } catch (error) {
      if (![429, 503].includes(toApiRequestError(error).status)) return null
      await new Promise(resolve => setTimeout(resolve, retryMs))
    }
  }
  return null
}

const isPlaylist = (key: string) => key.startsWith('playlist/')

/** Says how long a station is silent from now on; '' if it is not, or only briefly. */
function describeSilence(simulation: Simulation): string {
  const silence = findSilenceNow(simulation)
  const seconds = silence === null ? 0 : silence.until - silence.from
  if (silence === null || seconds < minSilentSeconds) return ''
  return `${describeDuration(seconds)}${silence.until >= simulation.until ? ' or more' : ''}`
}

/** Asks if the station would be silent now. Returns false if the operator cancels. */
async function confirmSilence(simulation: Simulation): Promise<boolean> {
  const silence = describeSilence(simulation)
  if (silence === '') return true
  return confirmAction({
    title: 'Save a schedule that is silent now?',
    text: `No playlist would play now: the station would be silent for ${silence}.`,
    verb: 'Save'
  })
}

/** Notifies the operator if the station is silent now with the stored schedules. */
async function warnOfSilence(host: HTMLElement, stationPath: StationPath): Promise<void> {
  const simulation = await simulateWithRetries(stationPath, { days: simulatedDays, from: '', playlists: [] })
  const silence = simulation === null ? '' : describeSilence(simulation)
  if (silence !== '')
    showNotice(host, { text: `No playlist plays now: the station is silent for ${silence}.`, isError: true })
}
