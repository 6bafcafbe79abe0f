"""The Streamlit dashboard: the only room that imports streamlit or plotly.

figures/ draws results, sections/ says what each page shows, pages/ places it. choices/ is what people move, asking/
what they ask, drawing/ how it gets onto a page, computing/ the jobs behind it, server/ who may reach it, offline/
reports and exports; page opens the run, cached keeps it.
"""
