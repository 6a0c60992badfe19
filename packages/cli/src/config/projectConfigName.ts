/** The file in which a directory says how toolcrib is to work there. */
export const projectConfigName = ".toolcrib.json";
