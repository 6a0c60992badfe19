/** Work that grew past its limit: a schema or arguments that would keep the event loop busy. */
export class TooManySteps extends Error {}

/** No thread could be started, so nothing was checked: that is the host's doing, not the arguments'. */
export class NoThread extends Error {}
