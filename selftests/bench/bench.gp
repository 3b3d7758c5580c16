# SPDX-License-Identifier: GPL-2.0
# Plots size against lookup time: gnuplot -e "data='...'; svg='...'" bench.gp
set terminal svg size 900,560 font "sans,13" background "white"
set output svg
set title "Unwind tables: a point for each file"
set xlabel "bytes a row"
set ylabel "ns a lookup, uniform over text, warm"
set logscale xy
set grid
set key top right
plot data index 0 using 1:2 with points pointtype 7 pointsize 0.8 title "table", \
     data index 1 using 1:2 with points pointtype 5 pointsize 0.8 title "rows of 8 bytes, binary search", \
     data index 2 using 1:2 with points pointtype 9 pointsize 0.8 title "rows of 4 bytes, binary search"
